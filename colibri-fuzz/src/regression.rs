//! Failures that were found once: kept as files, replayed first on each run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::run::Failure;
use crate::workload::Workload;

/// A kept failure. A file may also hold the workload alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Regression {
    /// The promise that it broke.
    pub promise: String,
    /// How, when it was found.
    pub found: String,
    /// The run's seed and the case in which it was found.
    pub seed: u64,
    /// The case's number.
    pub case: u64,
    /// The smallest workload that showed it.
    pub workload: Workload,
}

impl Regression {
    /// A failure that was found in `case`, as a file's content.
    pub fn of(failure: &Failure, case: Case) -> Self {
        Regression {
            promise: failure.breach.promise.to_owned(),
            found: failure.breach.text.clone(),
            seed: case.seed,
            case: case.number,
            workload: failure.workload.clone(),
        }
    }

    /// Writes it into `folder` and returns the file's path. The name tells promise, seed and case.
    ///
    /// # Errors
    ///
    /// If the folder cannot be made, or the file not written.
    pub fn keep(&self, folder: &Path) -> io::Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let name = format!("{}-{}-{}.json", self.promise.replace(' ', "-"), self.seed, self.case);
        let path = folder.join(name);
        let text = serde_json::to_string_pretty(self).map_err(io::Error::other)?;
        fs::write(&path, text + "\n")?;
        Ok(path)
    }
}

/// Where failures are kept: beside the harness's own sources.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions")
}

/// The files in `folder`, by name. A folder that is not there holds none.
///
/// # Errors
///
/// If the folder cannot be read.
pub fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    let mut files = paths
        .into_iter()
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect::<Vec<_>>();
    files.sort();
    Ok(files)
}

/// Reads a workload from a file that holds a [`Regression`] or a workload alone.
///
/// # Errors
///
/// A sentence that names the file and what is wrong with it.
pub fn read(path: &Path) -> Result<Workload, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let value = serde_json::from_str::<serde_json::Value>(&text)
        .map_err(|error| format!("{} is no JSON: {error}", path.display()))?;
    let wrong = |error| format!("{} is no workload: {error}", path.display());
    let workload = if value.get("workload").is_some() {
        serde_json::from_value::<Regression>(value).map_err(wrong)?.workload
    } else {
        // From the text once more: its errors tell the line.
        serde_json::from_str(&text).map_err(wrong)?
    };
    if workload.tasks.is_empty() {
        return Err(format!("{} has no tasks", path.display()));
    }
    Ok(workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_files_are_found_and_read() {
        let folder = std::env::temp_dir().join(format!("colibri-fuzz-test-{}", std::process::id()));
        let workload = Case { seed: 1, number: 1 }.workload();
        let regression = Regression {
            promise: "no lost task".to_owned(),
            found: "one was lost".to_owned(),
            seed: 1,
            case: 1,
            workload: workload.clone(),
        };
        let path = regression.keep(&folder).unwrap();
        assert_eq!(path.file_name().unwrap(), "no-lost-task-1-1.json");
        assert_eq!(files(&folder).unwrap(), std::slice::from_ref(&path));
        assert_eq!(read(&path).unwrap(), workload);
        fs::write(&path, serde_json::to_string(&workload).unwrap()).unwrap();
        assert_eq!(read(&path).unwrap(), workload);
        fs::write(&path, "{\"tasks\": 7}").unwrap();
        assert!(read(&path).unwrap_err().contains("is no workload"));
        fs::write(&path, "tasks").unwrap();
        assert!(read(&path).unwrap_err().contains("is no JSON"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(files(&folder).unwrap(), Vec::<PathBuf>::new());
    }

    #[test]
    fn all_committed_files_can_be_read() {
        for file in files(&folder()).unwrap() {
            assert_eq!(read(&file).map(|_| ()), Ok(()), "{}", file.display());
        }
    }
}

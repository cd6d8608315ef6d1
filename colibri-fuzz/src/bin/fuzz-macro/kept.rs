//! Failures that were kept: one file each, replayed before anything new is tried.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::case::{Case, text_of_kept};
use crate::form::Forms;
use crate::judge::Failure;

/// Where they are kept unless told otherwise.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions").join("macro")
}

/// The cases in `folder`; none if it is not there.
pub(crate) fn read(folder: &Path) -> Result<Vec<Case>, String> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(format!("cannot read {}: {error}", folder.display())),
    };
    let mut paths = entries.flatten().map(|entry| entry.path()).collect::<Vec<_>>();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    paths.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<Case, String> {
    let text =
        fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let stem =
        path.file_stem().map(|stem| stem.to_string_lossy().replace(['-', '.'], "_")).unwrap_or_default();
    let case = Case {
        name: format!("kept_{stem}"),
        is_edition_2021: text.lines().any(|line| line == "//! edition: 2021"),
        is_short: true,
        text: text_of_kept(&text),
        forms: Forms::default(),
    };
    case.wrapper()?;
    Ok(case)
}

/// Keeps a failure, and says where.
pub(crate) fn keep(folder: &Path, case: &Case, failure: &Failure, command: &str) -> io::Result<PathBuf> {
    fs::create_dir_all(folder)?;
    let title = failure.title().to_lowercase();
    let words =
        title.split(|character: char| !character.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.take(6).collect::<Vec<_>>().join("_");
    let path = folder.join(format!("{name}_{}.rs", case.name));
    let edition = if case.is_edition_2021 { "2021" } else { "2024" };
    let first_line = failure.seen.lines().next().unwrap_or_default();
    let text = format!(
        "//! {}: {first_line}\n//!\n//! found by: {command}\n//! edition: {edition}\n\n{}",
        failure.title(),
        case.text
    );
    fs::write(&path, text)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_again() {
        let folder = std::env::temp_dir().join(format!("colibri-kept-{}", std::process::id()));
        let case = Case::generated(1, 4);
        let failure = Failure {
            kind: "compile".to_owned(),
            detail: "E0382".to_owned(),
            seen: "use of moved".to_owned(),
        };
        let path =
            keep(&folder, &case, &failure, "cargo xtask fuzz-macro").expect("the folder can be written");
        let read = read(&folder).expect("the folder can be read");
        fs::remove_dir_all(&folder).expect("it was just made");
        assert_eq!(path.file_name().and_then(|name| name.to_str()), Some("compile_e0382_s1_n4.rs"));
        assert_eq!(read.len(), 1);
        assert_eq!(read[0].text.trim(), case.text.trim());
        assert!(read[0].is_edition_2021);
    }
}

//! A run: one crate after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::arguments::Arguments;
use crate::catalogue::{self, Crate};
use crate::compile::{self, Built, Program};
use crate::convert::{self, Function, Plan, Twins};
use crate::project::Project;
use crate::report::{self, Report, Total};
use crate::testing::{self, Results};

/// Builds after which a crate that still does not compile is given up: each leaves some functions plain.
const MOST_BUILDS: usize = 12;

/// Runs what `arguments` say; false if a crate failed. An error is wrong use.
pub(crate) fn run(arguments: &Arguments) -> Result<bool, String> {
    if arguments.list {
        report::list(&catalogue::list());
        return Ok(true);
    }
    let crates = match arguments.crates.as_slice() {
        [] => catalogue::list(),
        names => names.iter().map(|name| catalogue::named(name)).collect::<Result<_, _>>()?,
    };
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(default_target, PathBuf::from).join("convert");
    let folder = arguments.keep.clone().unwrap_or_else(|| target.join("sources"));
    let project = Project::new(&folder, &target.join("target"))?;

    let mut total = Total::default();
    for entry in &crates {
        report::begin(entry);
        match one(&project, entry, arguments) {
            Ok(report) => {
                report::tell(&report, arguments.verbose);
                total.add(&report);
            }
            Err(message) => {
                report::failure(&message);
                total.fail(&entry.name);
            }
        }
    }
    if arguments.keep.is_none() {
        // Nothing depends on it: what cannot be deleted stays.
        let _ = fs::remove_dir_all(&folder);
    }
    report::tell_total(&total);
    if let Some(canary) = arguments.canary {
        report::tell_canary(canary, &total);
        return Ok(total.has_found());
    }
    Ok(total.is_well())
}

fn default_target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace").join("target")
}

/// A crate's text: by file, as it was.
struct Sources {
    folder: PathBuf,
    files: BTreeMap<String, String>,
}

impl Sources {
    fn read(folder: &Path, programs: &[Program]) -> Result<Sources, String> {
        let read = |name: String| {
            let text = fs::read_to_string(folder.join(&name)).map_err(|error| format!("{name}: {error}"))?;
            Ok((name, text))
        };
        let files =
            compile::sources(programs, folder).into_iter().map(read).collect::<Result<_, String>>()?;
        Ok(Sources { folder: folder.to_owned(), files })
    }

    /// Writes the files as `plan` says. Gives all functions with loops, and the files that cannot be read.
    fn write(&self, plan: Plan<'_>) -> Result<(Vec<Function>, Vec<String>), String> {
        let mut functions: Vec<Function> = Vec::new();
        let mut unread = Vec::new();
        for (name, original) in &self.files {
            let first = functions.len().try_into().expect("few functions");
            let text = match convert::convert(name, original, first, plan) {
                Ok((text, found)) => {
                    functions.extend(found);
                    text
                }
                Err(message) => {
                    unread.push(format!("{name}: {message}"));
                    original.clone()
                }
            };
            write(&self.folder.join(name), &text).map_err(|error| format!("{name}: {error}"))?;
        }
        Ok((functions, unread))
    }
}

/// What stays the same keeps its time, for cargo.
fn write(path: &Path, text: &str) -> io::Result<()> {
    if fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    fs::write(path, text)
}

fn one(project: &Project, entry: &Crate, arguments: &Arguments) -> Result<Report, String> {
    let folder = project.copy(entry)?;
    if edition(&folder) == "2015" {
        return Err("is of edition 2015, in which no future can be named".to_owned());
    }
    let built = compile::build(project, &folder)?;
    if built.has_failed() {
        return Err(format!("its tests do not build plain:\n{}", told(&built)));
    }
    let sources = Sources::read(&folder, &built.programs)?;
    let notes = project.file("notes");
    let test = |programs: &[Program]| -> Result<Results, String> {
        let mut results = testing::run(project, &folder, programs, &notes, arguments.patience)?;
        if arguments.docs {
            results.extend(testing::run_docs(project, &folder, arguments.patience)?);
        }
        Ok(results)
    };
    let plain = test(&built.programs)?;

    let only = arguments.only.as_deref();
    let mut stay = BTreeSet::new();
    // First the tool itself: what does not compile even without the attribute is no fault of the attribute.
    let moved = settle(project, &sources, &mut stay, Twins::Plain, only)?;
    let twins = arguments.canary.map_or(Twins::Cooperative, |canary| Twins::Faulty(canary.runtime));
    let faults = settle(project, &sources, &mut stay, twins, only)?;
    let _ = fs::remove_file(&notes);
    let converted = test(&faults.programs)?;
    let noted = fs::read_to_string(&notes).unwrap_or_default();
    let did = |what: &str| noted.lines().filter(|line| line.ends_with(what)).collect::<BTreeSet<_>>().len();
    Ok(Report {
        name: entry.name.clone(),
        ran: did(" ran"),
        gave_way: did(" gave way"),
        is_chosen: faults
            .functions
            .iter()
            .map(|function| only.is_none_or(|only| function.id.contains(only)))
            .collect(),
        functions: faults.functions,
        unread: faults.unread,
        unmovable: moved.errors,
        errors: faults.errors,
        plain,
        converted,
    })
}

/// What compiles in the end.
struct Settled {
    functions: Vec<Function>,
    unread: Vec<String>,
    errors: BTreeMap<u32, Vec<String>>,
    programs: Vec<Program>,
}

/// Builds until nothing fails; functions that do are added to those that `stay` plain.
fn settle(
    project: &Project,
    sources: &Sources,
    stay: &mut BTreeSet<u32>,
    twins: Twins,
    only: Option<&str>,
) -> Result<Settled, String> {
    let mut errors = BTreeMap::new();
    for _ in 0..MOST_BUILDS {
        let (functions, unread) = sources.write(Plan { twins, stay, only })?;
        let built = compile::build(project, &sources.folder)?;
        if !built.has_failed() {
            return Ok(Settled { functions, unread, errors, programs: built.programs });
        }
        if built.errors.is_empty() {
            return Err(format!("does not compile, whatever function it is:\n{}", told(&built)));
        }
        stay.extend(built.errors.keys());
        errors.extend(built.errors);
    }
    Err(format!("still does not compile with {} functions left plain", stay.len()))
}

fn told(built: &Built) -> String {
    built.others.iter().chain(built.errors.values().flatten()).take(5).cloned().collect::<Vec<_>>().join("\n")
}

fn edition(folder: &Path) -> String {
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let line = manifest.lines().find_map(|line| line.strip_prefix("edition = "));
    line.map_or("2015".to_owned(), |edition| edition.trim_matches('"').to_owned())
}

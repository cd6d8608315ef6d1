//! The generated programs: three, so that two cores have something to do, one of them in edition 2021.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde_json::Value;

use crate::case::Case;

const SUPPORT: &str = include_str!("template/support.rs");
const SHORT: &str = include_str!("template/short.rs");
const FAULTY: &str = include_str!("template/faulty.rs");

/// The programs of a batch, and their editions.
pub(crate) const PROGRAMS: [(&str, &str); 3] = [("first", "2024"), ("second", "2024"), ("third", "2021")];

/// A folder for temporary files with the programs; it is deleted with this value.
#[derive(Debug)]
pub(crate) struct Project {
    folder: PathBuf,
    /// colibri-core's library, in the folder.
    core: PathBuf,
    /// Compile with all optimisations.
    pub(crate) is_optimised: bool,
}

/// colibri-core and colibri-macros as they are built beside this program: cargo takes what is there.
fn libraries() -> Result<Vec<PathBuf>, String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(["build", "--lib", "--package", "colibri-fuzz", "--message-format=json"]);
    command.arg("--manifest-path").arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"));
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("cargo does not start: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("colibri-core cannot be built:\n{}", said.trim()));
    }
    let told = String::from_utf8_lossy(&output.stdout);
    let found = told.lines().flat_map(libraries_in).collect::<Vec<_>>();
    if found.iter().any(|file| is_library(file)) {
        Ok(found)
    } else {
        Err("cargo tells of no library of colibri-core".to_owned())
    }
}

/// The files, if this line of cargo's is about one of the two.
fn libraries_in(line: &str) -> Vec<PathBuf> {
    let Ok(message) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    let is_ours = ["colibri_core", "colibri_macros"].iter().any(|name| message["target"]["name"] == *name);
    if !is_ours || message["reason"] != "compiler-artifact" {
        return Vec::new();
    }
    let files = message["filenames"].as_array().into_iter().flatten().filter_map(Value::as_str);
    files.map(PathBuf::from).filter(|file| file.extension() != Some("rmeta".as_ref())).collect()
}

fn is_library(file: &Path) -> bool {
    file.extension() == Some("rlib".as_ref())
}

impl Project {
    /// Makes the folder, and copies the libraries into it: what is built meanwhile does not change a long run.
    pub(crate) fn new() -> Result<Project, String> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("colibri-fuzz-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        let mut project = Project { folder, core: PathBuf::new(), is_optimised: false };
        let libraries = libraries()?;
        project
            .write_support()
            .and_then(|()| project.copy(&libraries))
            .map_err(|error| format!("{}: {error}", project.folder.display()))?;
        Ok(project)
    }

    fn copy(&mut self, libraries: &[PathBuf]) -> io::Result<()> {
        let folder = self.folder.join("libraries");
        fs::create_dir_all(&folder)?;
        for file in libraries {
            let copy = folder.join(file.file_name().unwrap_or_default());
            fs::copy(file, &copy)?;
            if is_library(&copy) {
                self.core = copy;
            }
        }
        Ok(())
    }

    fn write_support(&self) -> io::Result<()> {
        for (program, _) in PROGRAMS {
            let source = self.folder.join(program).join("src");
            fs::create_dir_all(&source)?;
            fs::write(source.join("support.rs"), SUPPORT)?;
            fs::write(source.join("short.rs"), SHORT)?;
            fs::write(source.join("faulty.rs"), FAULTY)?;
        }
        Ok(())
    }

    /// Writes the cases of one program. `cooperative` gives the text of a case's cooperative twin.
    pub(crate) fn write(
        &self,
        program: &str,
        cases: &[&Case],
        cooperative: &dyn Fn(&Case) -> String,
    ) -> Result<(), String> {
        let source = self.folder.join(program).join("src");
        let mut main = String::from(
            "#![allow(arithmetic_overflow, unconditional_panic)]\nmod faulty;\nmod short;\nmod support;\n",
        );
        let mut table = String::new();
        let write = |name: String, text: String| {
            let path = source.join(name);
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
        };
        const HEAD: &str = "#[allow(unused_imports)] use crate::support::*;\n\
                            #[allow(unused_imports)] use std::collections::BTreeMap;\n\
                            #[allow(unused_imports)] use colibri_core::cooperative;\n";
        for case in cases {
            let name = &case.name;
            write(format!("{name}_plain.rs"), format!("{HEAD}{}", case.plain()))?;
            let text = cooperative(case);
            let is_short = text.contains("crate = crate::short");
            write(format!("{name}_cooperative.rs"), format!("{HEAD}{text}"))?;
            write(format!("{name}.rs"), case.wrapper()?)?;
            main.push_str(&format!("mod {name};\nmod {name}_cooperative;\nmod {name}_plain;\n"));
            table.push_str(&format!(
                "        support::Case {{ name: \"{name}\", plain: {name}::plain, cooperative: |input| Box::pin({name}::cooperative(input)), is_short: {is_short} }},\n"
            ));
        }
        write(
            "main.rs".to_owned(),
            format!("{main}\nfn main() {{\n    support::run(&[\n{table}    ]);\n}}\n"),
        )
    }

    /// The lines of a twin's file before its text.
    pub(crate) const HEAD_LINES: u64 = 3;

    /// What compiles this program, telling in JSON what it finds. Without cargo: there is nothing to be found out.
    pub(crate) fn compiler(&self, program: &str) -> Command {
        let edition =
            PROGRAMS.iter().find(|(name, _)| *name == program).map_or("2024", |(_, edition)| edition);
        let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        command.current_dir(&self.folder).arg(format!("{program}/src/main.rs"));
        command.args(["--crate-name", program, "--crate-type", "bin", "--edition", edition]);
        command.args(["--error-format", "json", "-C", "debuginfo=0", "-C", "debug-assertions=on"]);
        command.args(["-C", if self.is_optimised { "opt-level=3" } else { "opt-level=0" }]);
        command.arg("-L").arg(prefixed("dependency=", &self.folder.join("libraries")));
        command.arg("--extern").arg(prefixed("colibri_core=", &self.core));
        command.arg("-o").arg(self.built(program));
        command
    }

    fn built(&self, program: &str) -> PathBuf {
        self.folder.join(format!("{program}{}", std::env::consts::EXE_SUFFIX)).with_extension("out")
    }

    /// The program that was built.
    pub(crate) fn program(&self, program: &str) -> Command {
        Command::new(self.built(program))
    }
}

fn prefixed(prefix: &str, path: &Path) -> OsString {
    let mut text = OsString::from(prefix);
    text.push(path);
    text
}

impl Drop for Project {
    fn drop(&mut self) {
        // Nothing depends on it: what cannot be deleted stays.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_found_in_what_cargo_tells() {
        let line = r#"{"reason":"compiler-artifact","target":{"name":"colibri_core"},"filenames":["/t/a.rmeta","/t/a.rlib"]}"#;
        assert_eq!(libraries_in(line), [PathBuf::from("/t/a.rlib")]);
        assert_eq!(libraries_in(&line.replace("colibri_core", "colibri_macros")).len(), 1);
        assert!(libraries_in(&line.replace("colibri_core", "colibri_fuzz")).is_empty());
        assert!(libraries_in("Compiling").is_empty());
    }
}

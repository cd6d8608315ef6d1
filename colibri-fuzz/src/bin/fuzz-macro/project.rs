//! The generated workspace: three programs, so that two cores have something to do, one of them in edition 2021.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::case::Case;

const SUPPORT: &str = include_str!("template/support.rs");
const FAULTY: &str = include_str!("template/faulty.rs");

/// The programs of a batch, and their editions.
pub(crate) const PROGRAMS: [(&str, &str); 3] = [("first", "2024"), ("second", "2024"), ("third", "2021")];

/// A workspace in a folder for temporary files; it is deleted with this value.
#[derive(Debug)]
pub(crate) struct Project {
    folder: PathBuf,
    /// What its programs' names begin with, so that two runs share a target folder.
    prefix: String,
    target: PathBuf,
    /// Compile with all optimisations.
    pub(crate) is_optimised: bool,
}

impl Project {
    /// A workspace that shares `target` with others.
    pub(crate) fn new(target: &Path) -> io::Result<Project> {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let prefix = format!("fuzz-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("colibri-{prefix}"));
        let project = Project { folder, prefix, target: target.to_owned(), is_optimised: false };
        project.write_manifests()?;
        Ok(project)
    }

    fn write_manifests(&self) -> io::Result<()> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies in the workspace");
        let core = fs::canonicalize(root.join("colibri-core"))?;
        let names = PROGRAMS.map(|(name, _)| format!("{name:?}")).join(", ");
        fs::create_dir_all(&self.folder)?;
        fs::write(
            self.folder.join("Cargo.toml"),
            format!(
                "[workspace]\nresolver = \"3\"\nmembers = [{names}]\n\n\
                 [profile.dev]\ndebug = false\nincremental = false\nopt-level = 0\n\n\
                 [profile.dev.package.\"*\"]\nopt-level = 1\n\n\
                 [profile.release]\ndebug-assertions = true\noverflow-checks = true\nstrip = true\n"
            ),
        )?;
        // The same versions as here, so that nothing has to be fetched.
        if root.join("Cargo.lock").exists() {
            fs::copy(root.join("Cargo.lock"), self.folder.join("Cargo.lock"))?;
        }
        for (program, edition) in PROGRAMS {
            let folder = self.folder.join(program);
            fs::create_dir_all(folder.join("src"))?;
            fs::write(
                folder.join("Cargo.toml"),
                format!(
                    "[package]\nname = \"{}-{program}\"\nversion = \"0.0.0\"\nedition = \"{edition}\"\npublish = false\n\n\
                     [dependencies]\ncolibri-core = {{ path = {core:?} }}\n",
                    self.prefix
                ),
            )?;
            // Cargo wants every member to be complete, also one that gets no cases.
            fs::write(folder.join("src/main.rs"), "fn main() {}\n")?;
            fs::write(folder.join("src/support.rs"), SUPPORT)?;
            fs::write(folder.join("src/faulty.rs"), FAULTY)?;
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
        let mut main =
            String::from("#![allow(arithmetic_overflow, unconditional_panic)]\nmod faulty;\nmod support;\n");
        let mut table = String::new();
        let write = |name: String, text: String| {
            let path = source.join(name);
            // What stays the same keeps its time, for cargo.
            if fs::read_to_string(&path).is_ok_and(|old| old == text) {
                return Ok(());
            }
            fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
        };
        const HEAD: &str = "#[allow(unused_imports)] use crate::support::*;\n\
                            #[allow(unused_imports)] use std::collections::BTreeMap;\n\
                            #[allow(unused_imports)] use colibri_core::cooperative;\n";
        for case in cases {
            let name = &case.name;
            write(format!("{name}_plain.rs"), format!("{HEAD}{}", case.plain()))?;
            write(format!("{name}_cooperative.rs"), format!("{HEAD}{}", cooperative(case)))?;
            write(format!("{name}.rs"), case.wrapper()?)?;
            main.push_str(&format!("mod {name};\nmod {name}_cooperative;\nmod {name}_plain;\n"));
            table.push_str(&format!(
                "        support::Case {{ name: \"{name}\", plain: {name}::plain, cooperative: |input| Box::pin({name}::cooperative(input)) }},\n"
            ));
        }
        write(
            "main.rs".to_owned(),
            format!("{main}\nfn main() {{\n    support::run(&[\n{table}    ]);\n}}\n"),
        )
    }

    /// The lines of a twin's file before its text.
    pub(crate) const HEAD_LINES: u64 = 3;

    /// `cargo build` of these programs, telling in JSON what it finds.
    pub(crate) fn build(&self, programs: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.folder).args([
            "build",
            "--offline",
            "--keep-going",
            "--message-format=json",
        ]);
        command.arg("--target-dir").arg(&self.target);
        for program in programs {
            command.args(["--package", &format!("{}-{program}", self.prefix)]);
        }
        if self.is_optimised {
            command.arg("--release");
        }
        // The generated workspace has its own profile and no lints.
        command
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_PROFILE_DEV_OPT_LEVEL");
        command
    }

    fn built(&self) -> PathBuf {
        self.target.join(if self.is_optimised { "release" } else { "debug" })
    }

    /// The program that was built.
    pub(crate) fn program(&self, program: &str) -> Command {
        Command::new(self.built().join(format!("{}-{program}{}", self.prefix, std::env::consts::EXE_SUFFIX)))
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        // Nothing depends on it: what cannot be deleted stays.
        let _ = fs::remove_dir_all(&self.folder);
        for profile in ["debug", "release"] {
            for folder in ["", "deps", ".fingerprint", "build", "incremental"] {
                let folder = self.target.join(profile).join(folder);
                for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                    let name = entry.file_name().to_string_lossy().replace('_', "-");
                    if name.starts_with(&format!("{}-", self.prefix)) {
                        let _ = fs::remove_file(entry.path()).or_else(|_| fs::remove_dir_all(entry.path()));
                    }
                }
            }
        }
    }
}

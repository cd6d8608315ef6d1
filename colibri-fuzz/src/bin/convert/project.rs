//! The working folder: a crate's sources as cargo brings them, and the driver that wrappers call.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, io};

use serde_json::Value;

use crate::catalogue::Crate;

const DRIVER: &str = include_str!("template/driver.rs");
const FAULTY: &str = include_str!("template/faulty.rs");

/// A folder with a crate's copy, its driver, and what cargo builds.
#[derive(Debug)]
pub(crate) struct Project {
    folder: PathBuf,
    target: PathBuf,
}

impl Project {
    /// In `folder`; what is built for several crates is built once, in `target`.
    pub(crate) fn new(folder: &Path, target: &Path) -> Result<Project, String> {
        let absolute =
            |path: &Path| std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()));
        let project = Project { folder: absolute(folder)?, target: absolute(target)? };
        let driver = project.folder.join("driver");
        let manifest = format!(
            "[package]\nname = \"convert_driver\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\ncolibri-core = {{ path = {:?} }}\n\n[workspace]\n",
            core()
        );
        let write = || {
            fs::create_dir_all(driver.join("src"))?;
            fs::write(driver.join("Cargo.toml"), manifest)?;
            fs::write(driver.join("src/faulty.rs"), FAULTY)?;
            fs::write(driver.join("src/lib.rs"), DRIVER)
        };
        write().map_err(|error| format!("{}: {error}", driver.display()))?;
        Ok(project)
    }

    /// Copies the crate's sources here and makes them depend on the driver. Gives the copy's folder.
    pub(crate) fn copy(&self, entry: &Crate) -> Result<PathBuf, String> {
        let source = self.fetch(entry)?;
        let copy = self.folder.join(&entry.name);
        let prepare = || -> io::Result<()> {
            if copy.exists() {
                fs::remove_dir_all(&copy)?;
            }
            copy_folder(&source, &copy)?;
            let manifest = copy.join("Cargo.toml");
            let text = fs::read_to_string(&manifest)?;
            fs::write(
                &manifest,
                format!(
                    "{text}\n[dependencies.colibri-core]\npath = {:?}\n\n[dependencies.convert_driver]\npath = {:?}\n\n[workspace]\n",
                    core(),
                    self.folder.join("driver")
                ),
            )?;
            // The versions that the authors locked for themselves may be too old for this compiler.
            match fs::remove_file(copy.join("Cargo.lock")) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        };
        prepare().map_err(|error| format!("{}: {error}", copy.display()))?;
        Ok(copy)
    }

    /// Where cargo keeps the crate's sources; it brings them first if need be.
    fn fetch(&self, entry: &Crate) -> Result<PathBuf, String> {
        let asking = self.folder.join("asking");
        let manifest = format!(
            "[package]\nname = \"asking\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n[dependencies]\n{} = \"={}\"\n\n[workspace]\n",
            entry.name, entry.version
        );
        let write = || {
            fs::create_dir_all(asking.join("src"))?;
            fs::write(asking.join("Cargo.toml"), manifest)?;
            fs::write(asking.join("src/lib.rs"), "")
        };
        write().map_err(|error| format!("{}: {error}", asking.display()))?;
        let output = self
            .cargo(&asking)
            .args(["metadata", "--format-version", "1"])
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("cargo does not start: {error}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(format!("cargo does not bring {} {}:\n{}", entry.name, entry.version, said.trim()));
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())?;
        let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let package = packages.iter().find(|package| package["name"] == entry.name.as_str());
        let manifest = package.and_then(|package| package["manifest_path"].as_str());
        let folder = manifest.and_then(|manifest| Path::new(manifest).parent());
        folder.map(Path::to_path_buf).ok_or_else(|| format!("cargo does not say where {} is", entry.name))
    }

    /// Cargo in `folder`, with settings of its own.
    pub(crate) fn cargo(&self, folder: &Path) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command
            .current_dir(folder)
            // Which lints a crate denies is no question here.
            .env("RUSTFLAGS", "--cap-lints=allow")
            .env("RUSTDOCFLAGS", "--cap-lints=allow")
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            .env("CARGO_INCREMENTAL", "0")
            .env_remove("CARGO_PROFILE_DEV_OPT_LEVEL");
        // Some tests come to a check a hundred million times.
        let own = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for (package, level) in [("colibri-core", 2), ("convert_driver", 2), (own.as_str(), 1)] {
            command.args(["--config", &format!("profile.dev.package.{package}.opt-level = {level}")]);
        }
        command
    }

    /// A file in the working folder.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
        .join("colibri-core")
}

fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            if entry.file_name() != OsStr::new("target") {
                copy_folder(&entry.path(), &target)?;
            }
        } else {
            // Not `fs::copy`: what the registry's copy forbids, such as writing, is no matter of ours.
            fs::write(&target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

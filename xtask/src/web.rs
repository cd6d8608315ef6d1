//! `cargo xtask web`: the package for browsers, built, measured, tested and served.
//!
//! It installs nothing: what is missing it names, all at once, with the command that brings it.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::cargo;

/// The most that the package may take, in bytes after `gzip -9`: a third less than the library it is modelled on allowed itself.
const LIMIT_BYTES: u64 = 2048;

pub(crate) const HELP: &str = "\
Exit codes: 0 all well, 1 too large, or a test failed, 2 something is missing (what, and how to get it, is said).";

/// What is to be done after the build.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Then {
    pub(crate) test: bool,
    pub(crate) browser: bool,
    pub(crate) serve: bool,
}

/// A compiler for wasm32 and how cargo is told to use it.
struct Toolchain {
    rustc: Option<&'static str>,
    linker: Option<String>,
}

/// Builds, measures, and does what is asked for then.
pub(crate) fn run(then: Then) -> ExitCode {
    match build(then) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Missing(lines)) => {
            eprintln!("error: `cargo xtask web` needs more than this machine has:\n");
            lines.iter().for_each(|line| eprintln!("{line}\n"));
            ExitCode::from(2)
        }
        Err(Failure::Failed(what)) => {
            eprintln!("error: {what}");
            ExitCode::FAILURE
        }
    }
}

enum Failure {
    Missing(Vec<String>),
    Failed(String),
}

fn build(then: Then) -> Result<(), Failure> {
    let toolchain = find_all(then)?;
    step("the core, for wasm32", toolchain.cargo("wasm", &["build", "--release"]).env("RUSTFLAGS", SMALL))?;
    let wasm = target("wasm").join("colibri_web_wasm.wasm");
    let mut command = node(&["build.mjs"]);
    let output = command.arg(&wasm).output().map_err(|error| not_started("node", &error))?;
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let sizes = Sizes::read(&said).filter(|_| output.status.success());
    let Some(sizes) = sizes else { return Err(Failure::Failed("the package was not built".into())) };
    print!("{}", sizes.table());
    step("the program in Rust, for wasm32", &mut toolchain.cargo("program", &["build", "--release"]))?;
    wrap_program()?;
    if sizes.package > LIMIT_BYTES {
        return Err(Failure::Failed(format!(
            "the package has {} bytes after gzip -9, and may have {LIMIT_BYTES}",
            sizes.package
        )));
    }
    if then.test {
        step("its types", &mut node(&["node_modules/typescript/bin/tsc", "--project", "tests/types"]))?;
        step("its tests on Node", &mut node(&["--test", "tests/"]))?;
    }
    if then.test || then.browser {
        step("its tests in Chromium", &mut node(&["--test", "--test-concurrency=1", "browser/"]))?;
    }
    if then.serve {
        step("the page", &mut node(&["serve.mjs", "dist/demo"]))?;
    }
    Ok(())
}

/// Panics are traps, as nothing may panic; no stack in memory, as nothing needs one (`build.mjs` makes sure).
const SMALL: &str = "-Zunstable-options -Cpanic=immediate-abort -Clink-arg=-zstack-size=16";

impl Toolchain {
    /// Cargo, at work in one of colibri-web's folders.
    fn cargo(&self, folder: &str, arguments: &[&str]) -> Command {
        let mut command = cargo::cargo();
        command.current_dir(cargo::root().join("colibri-web").join(folder)).args(arguments);
        command.args(["--target", "wasm32-unknown-unknown"]);
        command.env("CARGO_TARGET_DIR", cargo::target_beside("web").join(folder));
        // What is small is so by flags that stable compilers do not take without this.
        command.env("RUSTC_BOOTSTRAP", "1");
        if let Some(rustc) = self.rustc {
            command.env("RUSTC", rustc);
        }
        let libraries = if folder == "wasm" { "core,alloc" } else { "std,panic_abort" };
        if folder == "wasm" || self.rustc.is_some() {
            command.arg(format!("-Zbuild-std={libraries}"));
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        command
    }
}

fn find_all(then: Then) -> Result<Toolchain, Failure> {
    let mut missing = Vec::new();
    let toolchain = find_toolchain();
    if toolchain.is_none() {
        missing.push(
            "A compiler for wasm32, with the library's source.\n  \
             With rustup: rustup target add wasm32-unknown-unknown && rustup component add rust-src\n  \
             On Debian: apt-get install --no-install-recommends rustc-web rust-web-src lld-22"
                .to_owned(),
        );
    }
    if !starts("node", "--version") {
        missing.push(
            "Node.js 20 or later.\n  On Debian: apt-get install nodejs npm; elsewhere: https://nodejs.org"
                .into(),
        );
    }
    if !starts("gzip", "--version") {
        missing.push("gzip, which sizes are measured with.\n  On Debian: apt-get install gzip".into());
    }
    if !package().join("node_modules").join("binaryen").exists() {
        missing.push("The package's tools.\n  npm ci --ignore-scripts --prefix colibri-web/package".into());
    }
    if (then.test || then.browser) && chromium().is_none() {
        missing.push(
            "Chromium, for the tests in a browser.\n  \
             On Debian: apt-get install --no-install-recommends chromium; or name yours: COLIBRI_CHROMIUM=/path/to/it"
                .into(),
        );
    }
    toolchain.filter(|_| missing.is_empty()).ok_or(Failure::Missing(missing))
}

/// The caller's own compiler, if it knows the target and has the library's source; else Debian's.
fn find_toolchain() -> Option<Toolchain> {
    let root = sysroot("rustc");
    let has = |path: &str| root.as_ref().is_some_and(|root| root.join(path).exists());
    if has("lib/rustlib/wasm32-unknown-unknown") && has("lib/rustlib/src/rust/library") {
        return Some(Toolchain { rustc: None, linker: None });
    }
    const DEBIAN: &str = "/usr/bin/rustc";
    let source = sysroot(DEBIAN)?.join("lib/rustlib/src/rust/library");
    let linker =
        (15..=40).rev().map(|version| format!("wasm-ld-{version}")).find(|name| starts(name, "--version"))?;
    source.exists().then_some(Toolchain { rustc: Some(DEBIAN), linker: Some(linker) })
}

fn sysroot(rustc: &str) -> Option<PathBuf> {
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    output.status.success().then(|| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()))
}

fn starts(program: &str, argument: &str) -> bool {
    Command::new(program).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// The browser that the tests start, by its path.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("COLIBRI_CHROMIUM").map(PathBuf::from);
    let usual = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    named.into_iter().chain(usual.map(PathBuf::from)).find(|path| path.exists())
}

fn package() -> PathBuf {
    cargo::root().join("colibri-web").join("package")
}

fn target(folder: &str) -> PathBuf {
    cargo::target_beside("web").join(folder).join("wasm32-unknown-unknown").join("release")
}

fn node(arguments: &[&str]) -> Command {
    let mut command = Command::new("node");
    command.current_dir(package()).args(arguments);
    if let Some(path) = chromium() {
        command.env("COLIBRI_CHROMIUM", path);
    }
    command
}

/// The JavaScript around the program in Rust, once for pages and once for Node.
fn wrap_program() -> Result<(), Failure> {
    let wasm = target("program").join("colibri_web_program.wasm");
    for (folder, kind) in [("program", "web"), ("program-node", "nodejs")] {
        let mut command = cargo::cargo();
        command.current_dir(cargo::root().join("colibri-web").join("bindgen"));
        command.env("CARGO_TARGET_DIR", cargo::target_beside("web").join("bindgen"));
        command.args(["run", "--quiet", "--"]).arg(&wasm).arg(package().join("dist").join(folder)).arg(kind);
        step(&format!("the JavaScript around it, for {kind}"), &mut command)?;
    }
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |data| data.len());
    let bound = package().join("dist/program/colibri_web_program_bg.wasm");
    println!("the program in Rust, with the whole scheduler: {} bytes of wasm", size(&bound));
    Ok(())
}

fn step(name: &str, command: &mut Command) -> Result<(), Failure> {
    println!("web: {name} ...");
    let program = command.get_program().to_string_lossy().into_owned();
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(_) => {
            let typed = cargo::typed(std::iter::once(command.get_program()).chain(command.get_args()));
            let folder = command.get_current_dir().unwrap_or(cargo::root()).display().to_string();
            Err(Failure::Failed(format!("{name}: failed. In {folder}: {typed}")))
        }
        Err(error) => Err(not_started(&program, &error)),
    }
}

fn not_started(program: &str, error: &std::io::Error) -> Failure {
    Failure::Failed(format!("{program} does not start ({error}): is it on the path?"))
}

/// After `gzip -9`, in bytes.
#[derive(Debug, PartialEq, Eq)]
struct Sizes {
    wasm: u64,
    module: u64,
    package: u64,
}

impl Sizes {
    /// Reads what `build.mjs` says: one object of numbers.
    fn read(said: &str) -> Option<Self> {
        let gzipped = said.split("\"gzipped\":").nth(1)?;
        let number = |name: &str| -> Option<u64> {
            let after = gzipped.split(&format!("\"{name}\":")).nth(1)?;
            after.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
        };
        Some(Sizes { wasm: number("wasm")?, module: number("module")?, package: number("package")? })
    }

    fn table(&self) -> String {
        format!(
            "after gzip -9, in bytes:\n  the wasm file, alone     {:>5}\n  the module, without it   {:>5}\n  \
             both, as one module      {:>5}   (at most {LIMIT_BYTES})\n",
            self.wasm, self.module, self.package
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_from_what_the_build_says() {
        let said =
            r#"{"bytes":{"wasm":1,"module":2,"package":3},"gzipped":{"wasm":40,"module":50,"package":60}}"#;
        assert_eq!(Sizes::read(said), Some(Sizes { wasm: 40, module: 50, package: 60 }));
        assert_eq!(Sizes::read("SyntaxError"), None);
    }
}

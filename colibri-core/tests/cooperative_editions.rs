//! The same tests in a crate of edition 2021, where temporaries live by other rules.

use std::path::Path;
use std::process::Command;

#[test]
fn edition_2021() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cooperative_edition_2021/Cargo.toml");
    // The versions are the workspace's, so that nothing has to be fetched.
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.lock");
    let copy = manifest.with_file_name("Cargo.lock");
    if lock.exists() {
        std::fs::copy(lock, &copy).unwrap();
    }
    let run = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--offline", "--manifest-path"])
        .arg(&manifest)
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("edition-2021"))
        .output()
        .unwrap();
    let _ = std::fs::remove_file(copy);
    assert!(
        run.status.success(),
        "{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        String::from_utf8_lossy(&run.stderr)
    );
}

//! The rules of the house, which no compiler checks.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace")
}

/// The workspace's packages by name, as cargo sees them.
fn packages() -> BTreeMap<String, Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    packages.iter().map(|package| (text(&package["name"]), package.clone())).collect()
}

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

/// The members that a package depends on, but for its tests.
fn members_below(package: &Value, members: &BTreeMap<String, Value>) -> Vec<String> {
    let dependencies = package["dependencies"].as_array().expect("a list");
    let own = dependencies.iter().filter(|dependency| dependency["kind"] != "dev");
    own.map(|dependency| text(&dependency["name"])).filter(|name| members.contains_key(name)).collect()
}

/// All `.rs` files of the members, build output left out.
fn sources() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        packages().values().map(|package| PathBuf::from(text(&package["manifest_path"]))).collect();
    folders.iter_mut().for_each(|path| assert!(path.pop()));
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a member's folder is readable").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    assert!(files.len() > 10, "{files:?}");
    files
}

#[test]
fn dependencies_point_one_way() {
    let members = packages();
    for (name, package) in &members {
        let below = members_below(package, &members);
        let allowed: &[&str] = match name.as_str() {
            "colibri-macros" | "xtask" => &[],
            "colibri-core" => &["colibri-macros"],
            "colibri-examples" => &["colibri-core", "colibri-tokio"],
            _ => &["colibri-core"],
        };
        assert!(
            below.iter().all(|below| allowed.contains(&below.as_str())),
            "{name} may depend on {allowed:?} of this workspace, and depends on {below:?}"
        );
    }
}

#[test]
fn the_default_core_has_no_dependency_of_others() {
    let core = &packages()["colibri-core"];
    let dependencies = core["dependencies"].as_array().expect("a list");
    let always: Vec<String> = dependencies
        .iter()
        .filter(|dependency| dependency["kind"].is_null() && dependency["target"].is_null())
        .filter(|dependency| dependency["optional"] == false)
        .map(|dependency| text(&dependency["name"]))
        .collect();
    assert!(always.is_empty(), "colibri-core always builds {always:?}");
}

#[test]
fn each_source_file_begins_with_what_it_is_about() {
    let silent: Vec<PathBuf> = sources()
        .into_iter()
        // Inputs of a test are what their user would write.
        .filter(|path| {
            !path
                .components()
                .any(|part| ["ui", "snapshots", "fixtures"].iter().any(|name| part.as_os_str() == *name))
        })
        .filter(|path| {
            let source = fs::read_to_string(path).expect("a source file is readable");
            let first = source.lines().find(|line| !line.trim().is_empty() && !line.starts_with("#!["));
            !first.is_some_and(|line| line.starts_with("//! ") || line.starts_with("#![doc = include_str!("))
        })
        .collect();
    assert!(silent.is_empty(), "these files have no `//!` line at their head: {silent:#?}");
}

#[test]
fn unsafe_code_is_forbidden_everywhere() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace has a manifest");
    assert!(manifest.contains("unsafe_code = \"forbid\""), "the workspace no longer forbids unsafe code");
    for (name, package) in packages() {
        let manifest = fs::read_to_string(text(&package["manifest_path"])).expect("a member has a manifest");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} does not take the workspace's lints");
    }
}

#[test]
fn architecture_md_names_files_that_exist() {
    let Ok(page) = fs::read_to_string(root().join("ARCHITECTURE.md")) else { return };
    let missing: Vec<&str> = named_paths(&page).filter(|path| !exists(path)).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names files that are not there: {missing:#?}");
}

#[test]
fn the_code_map_names_every_file_of_the_core() {
    let Ok(page) = fs::read_to_string(root().join("ARCHITECTURE.md")) else { return };
    let core = root().join("colibri-core").join("src");
    let files = sources().into_iter().filter(|path| path.starts_with(&core));
    let paths = files.map(|path| path.strip_prefix(root()).expect("it lies below").to_owned());
    // A path in the map has slashes on every system.
    let texts =
        paths.map(|path| path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/"));
    // A module's folder may stand for its files.
    let covers = |named: &str, path: &str| {
        let is_module =
            named.ends_with('/') && named.starts_with("colibri-core/src/") && named != "colibri-core/src/";
        named == path || is_module && path.starts_with(named)
    };
    let missing: Vec<String> =
        texts.filter(|path| !named_paths(&page).any(|named| covers(named, path))).collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md's code map does not name: {missing:#?}");
}

/// What stands between backticks and looks like a path: with a slash or a known ending, and without spaces.
fn named_paths(page: &str) -> impl Iterator<Item = &str> {
    let prose = page.split("```").step_by(2);
    let quoted = prose.flat_map(|prose| prose.split('`').skip(1).step_by(2));
    quoted.filter(|text| {
        let path = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte));
        path && [".rs", ".toml", ".md", "/"].iter().any(|ending| text.ends_with(ending))
    })
}

/// A path may be told from the workspace's folder, from a member's, or as the end of a source file's.
fn exists(path: &str) -> bool {
    let members = packages();
    let mut folders = members.values().map(|package| PathBuf::from(text(&package["manifest_path"])));
    root().join(path).exists()
        || folders.any(|manifest| manifest.with_file_name(path).exists())
        || sources().iter().any(|source| source.ends_with(path))
}

#[test]
fn named_paths_are_found_in_prose_only() {
    let page = "See `src/queue.rs`, `colibri-core/`, `Task<T>`, `a / b`, `README.md`.\n```text\n`not/this.rs`\n```\nand `x.rs`";
    assert_eq!(named_paths(page).collect::<Vec<_>>(), ["src/queue.rs", "colibri-core/", "README.md", "x.rs"]);
}

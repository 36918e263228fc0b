//! Dependencies: licences and sources, which cargo-deny also checks where it is installed; the manifests.

use std::{collections::BTreeSet, fs, process::Command};

use serde_json::Value;
use spdx::{Expression, ParseMode};
use tests::program::Exits as _;
use tests::program::root;
use toml::Table;

fn table(path: &str) -> Table {
    fs::read_to_string(root().join(path)).unwrap().parse().unwrap()
}

/// What cargo answers.
fn cargo(arguments: &[&str]) -> Vec<u8> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo).current_dir(root()).args(arguments).output().unwrap().exits(0);
    output.stdout
}

/// Every package that Cargo.lock names, the workspace's own among them.
fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--locked", "--format-version=1"]);
    let all: Value = serde_json::from_slice(&metadata).unwrap();
    all["packages"].as_array().unwrap().clone()
}

/// `cargo test -p tests` compiles what `cargo test --workspace` does, and once for both.
#[tests::case]
fn the_package_tests_asks_for_the_workspaces_features() {
    let features = |of: &str| -> BTreeSet<String> {
        let form = ["--edges=normal,dev,build", "--prefix=none", "--format={p} {f}"];
        let tree = cargo(&[&["tree", "--locked", of], &form[..]].concat());
        let tree = String::from_utf8(tree).unwrap();
        tree.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    };
    let (own, all) = (features("--package=tests"), features("--workspace"));
    let other: Vec<&String> = own.difference(&all).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[tests::case]
fn licences_are_among_those_of_deny_toml() {
    let deny = serde_json::to_value(table("deny.toml")).unwrap();
    let exceptions = deny["licenses"]["exceptions"].as_array().unwrap();
    let is_allowed = |name: &str, text: &str| {
        let its = exceptions.iter().filter(|exception| exception["crate"].as_str() == Some(name));
        let lists =
            its.chain([&deny["licenses"]]).map(|section| section["allow"].as_array().unwrap());
        let allowed: BTreeSet<&str> =
            lists.flatten().map(|licence| licence.as_str().unwrap()).collect();
        let expression = Expression::parse_mode(text, ParseMode::LAX).unwrap();
        expression.evaluate(|requirement| allowed.contains(requirement.to_string().as_str()))
    };
    assert!(is_allowed("x", "GPL-2.0-only OR MIT"));
    assert!(!is_allowed("x", "GPL-2.0-only AND MIT"));
    assert!(!is_allowed("x", "MIT AND NCSA"));
    for package in packages() {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or("none"));
        assert!(is_allowed(name.as_str().unwrap(), licence), "{name} has the licence {licence}");
    }
}

#[tests::case]
fn packages_come_from_one_registry() {
    let packages = packages();
    let sources: BTreeSet<&str> =
        packages.iter().filter_map(|package| package["source"].as_str()).collect();
    assert_eq!(sources.len(), 1, "{sources:?}");
    assert!(sources.iter().all(|source| source.starts_with("registry+")), "{sources:?}");
}

#[tests::case]
fn versions_of_dependencies_are_the_workspaces() {
    let workspace = table("Cargo.toml")["workspace"].clone();
    let declared = workspace["dependencies"].as_table().unwrap();
    let mut used = BTreeSet::new();
    for member in workspace["members"].as_array().unwrap() {
        let manifest = table(&format!("{}/Cargo.toml", member.as_str().unwrap()));
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            for (name, value) in
                manifest.get(kind).and_then(|section| section.as_table()).into_iter().flatten()
            {
                let inherits = value.get("workspace").and_then(|flag| flag.as_bool());
                assert_eq!(inherits, Some(true), "{member:?}: {name}");
                used.insert(name.clone());
            }
        }
    }
    let unused: Vec<&String> = declared.keys().filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "{unused:?}");
}

/// Major and minor version.
fn version_of_rust(text: &str) -> [u32; 2] {
    let mut numbers = text.split('.').map(|number| number.parse().unwrap());
    [numbers.next().unwrap(), numbers.next().unwrap_or(0)]
}

/// No compiler of the minimum is at hand: at least no crate says that it needs a newer one.
#[tests::case]
fn no_dependency_needs_a_newer_rust_than_the_stated_minimum() {
    let workspace = table("Cargo.toml")["workspace"].clone();
    let minimum = version_of_rust(workspace["package"]["rust-version"].as_str().unwrap());
    let packages = packages();
    let stated = packages.iter().filter_map(|package| {
        Some((version_of_rust(package["rust_version"].as_str()?), package["name"].as_str()?))
    });
    let stated: Vec<_> = stated.collect();
    assert!(stated.len() > 100, "{stated:?}");
    let newer: Vec<_> = stated.iter().filter(|(version, _)| *version > minimum).collect();
    assert!(newer.is_empty(), "{newer:?}");
}

/// `make check` builds with one version, and `make check-rust` with others, both newer than this one.
#[tests::case]
fn the_stated_minimum_of_rust_is_the_same_everywhere() {
    let workspace = table("Cargo.toml")["workspace"].clone();
    let minimum = workspace["package"]["rust-version"].as_str().unwrap();
    for (path, before) in [
        ("README.md", "a Rust toolchain ("),
        ("Makefile", "cargo >= "),
        ("agent/doc/releases.md", "Rust "),
        ("packaging/Containerfile", "# Rust "),
        ("packaging/debian/control", "| cargo (>= "),
        ("packaging/debian/control", "| rustc (>= "),
        ("packaging/rpm/nmgen.spec", "BuildRequires:  cargo >= "),
    ] {
        let text = fs::read_to_string(root().join(path)).unwrap();
        assert!(text.contains(&format!("{before}{minimum}")), "{path}: {before}{minimum}");
    }
}

#[tests::case]
fn every_suite_has_a_stage_and_every_stage_a_suite() {
    let manifest = table("tests/Cargo.toml");
    let stages = fs::read_to_string(root().join("tests/stages/check.mk")).unwrap();
    let mut run: BTreeSet<&str> = stages
        .lines()
        .filter_map(|line| line.split_once(" $(suite) "))
        .filter_map(|(_, suite)| suite.split(' ').next())
        .collect();
    // A suite that `make check-all` has no time for has a command of its own.
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    for other in ["boot", "delivery", "page", "selinux"] {
        assert!(makefile.contains(&format!("-p tests --test {other}")));
        assert!(run.insert(other), "make check-all runs it too");
    }
    let suites = manifest["test"].as_array().unwrap();
    let names: BTreeSet<&str> =
        suites.iter().map(|suite| suite["name"].as_str().unwrap()).collect();
    assert_eq!(run, names);
    for suite in suites {
        assert_eq!(suite["harness"].as_bool(), Some(false), "{suite:?}");
        let path = root().join("tests").join(suite["path"].as_str().unwrap());
        let directory = path.parent().unwrap();
        let main = fs::read_to_string(&path).unwrap();
        for entry in fs::read_dir(directory).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
            if file.extension().is_some_and(|extension| extension == "rs") && file != path {
                assert!(
                    main.contains(&format!("mod {name};")),
                    "{} is in no suite",
                    file.display()
                );
            }
        }
    }
}

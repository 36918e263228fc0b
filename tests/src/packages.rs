//! Packages of existing builds, also under another version.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

use crate::program::root;
use crate::tree::{Built, files, make};

/// The names of the packages.
pub const PACKAGES: [&str; 3] = ["nmgen", "nmgen-dracut", "dayone"];

/// systemd's program that the macros of systemd-rpm-macros call. Source: systemd 252, src/rpm/systemd-update-helper.in.
pub const UPDATE_HELPER: &str = r#"#!/bin/sh
set -eu
[ "$1" = install-system-units ]
shift
systemctl --no-reload preset "$@"
"#;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns what a command prints.
///
/// # Errors
/// It cannot be started, or prints no UTF-8.
///
/// # Panics
/// When it fails.
pub fn run(command: &mut Command) -> io::Result<String> {
    let output = command.output()?;
    let (said, failed) = (&output.stdout, String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {}{failed}", String::from_utf8_lossy(said));
    String::from_utf8(output.stdout).map_err(io::Error::other)
}

/// Builds Debian's packages in `place`, and returns their paths by name.
///
/// # Errors
/// A command cannot be started.
///
/// # Panics
/// When one fails.
pub fn debian(built: &Built, place: &Path) -> io::Result<BTreeMap<&'static str, PathBuf>> {
    make("deb-built", &[&[("DEB", place)][..], &built.variables()].concat())?;
    let architecture = run(Command::new("dpkg").arg("--print-architecture"))?;
    let file = |name| format!("{name}_{VERSION}_{}.deb", architecture.trim());
    Ok(PACKAGES.iter().map(|name| (*name, place.join(file(name)))).collect())
}

/// Returns the agent's Debian package under another version, beside it.
///
/// # Errors
/// A file cannot be read or written, or a command cannot be started.
///
/// # Panics
/// When one fails.
pub fn debian_of_version(package: &Path, version: &str) -> io::Result<PathBuf> {
    let tree = package.with_file_name(format!("dayone-{version}"));
    run(Command::new("dpkg-deb").arg("--raw-extract").args([package, &tree]))?;
    let control = tree.join("DEBIAN/control");
    let text = fs::read_to_string(&control)?;
    let own = format!("\nVersion: {VERSION}\n");
    assert!(text.contains(&own), "{text}");
    fs::write(&control, text.replace(&own, &format!("\nVersion: {version}\n")))?;
    let other = package.with_file_name(format!("dayone-{version}.deb"));
    run(Command::new("dpkg-deb").args(["-Znone", "--build"]).args([&tree, &other]))?;
    Ok(other)
}

/// Builds RPMs in `place`, by the tree's own spec without another one, and returns their paths.
///
/// # Errors
/// make cannot be started, or a directory cannot be read.
///
/// # Panics
/// When it fails.
pub fn rpms(spec: Option<&Path>, built: &Built, place: &Path) -> io::Result<Vec<PathBuf>> {
    let mut variables = vec![("RPM", place)];
    variables.extend(spec.map(|spec| ("SPEC", spec)));
    variables.extend(built.variables());
    make("rpm-built", &variables)?;
    Ok(files(place)?.into_keys().map(|path| place.join(path)).collect())
}

/// Builds the agent's RPM under another version, from the spec with that version.
///
/// # Errors
/// A file cannot be read or written, make cannot be started, or it made no such package.
///
/// # Panics
/// When it fails.
pub fn rpm_of_version(version: &str, built: &Built, place: &Path) -> io::Result<PathBuf> {
    let text = fs::read_to_string(root().join("packaging/rpm/nmgen.spec"))?;
    let own = format!("\nVersion:        {VERSION}\n");
    assert!(text.contains(&own), "{own}");
    let spec = place.join(format!("{version}.spec"));
    fs::write(&spec, text.replace(&own, &format!("\nVersion:        {version}\n")))?;
    let packages = rpms(Some(&spec), built, &place.join(version))?;
    let is_agent = |path: &PathBuf| path.to_string_lossy().contains("/dayone-");
    packages.into_iter().find(is_agent).ok_or_else(|| io::Error::other("no package of the agent"))
}

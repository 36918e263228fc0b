//! The targets of `make fuzz` in nmgen: functions of any bytes that panic where an invariant is broken. Those of the agent are in
//! `agent/src/fuzzing.rs`.

mod boot;
mod document;
mod invariants;
mod keyfile;
mod parts;
mod source;

use std::path::PathBuf;
use std::{fs, io};

use crate::program::root;

/// A target's name and function.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 4] = [
    ("document", document::run),
    ("source", source::run),
    ("boot", boot::run),
    ("keyfile", keyfile::run),
];

/// The fixtures of a target, each with its content: finds that are mended, and seeds.
///
/// # Errors
/// The target's directory, or a file in it, cannot be read.
pub fn fixtures(target: &str) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let directory = root().join("tests/fixtures/fuzz").join(target);
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        found.push((path.clone(), fs::read(path)?));
    }
    found.sort();
    Ok(found)
}

//! The mutants: cargo-mutants names them, by the configuration in `.cargo/mutants.toml`.

use std::{env, fs, path::Path, process::Command};

use serde::{Deserialize, Serialize};

use crate::error::{Error, file};
use crate::run;

/// A change of one place.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Mutant {
    /// The path from the workspace's root.
    pub(crate) file: String,
    pub(crate) genre: Genre,
    /// The place and the change, for people.
    pub(crate) name: String,
    /// The text in place of the span's.
    pub(crate) replacement: String,
    pub(crate) span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Genre {
    FnValue,
    BinaryOperator,
    UnaryOperator,
    MatchArm,
    MatchArmGuard,
    StructField,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Span {
    pub(crate) start: Place,
    pub(crate) end: Place,
}

/// Line and column, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

/// The mutants of the configured files, of FILE or the folder FILE, or of a part SHARD=k/n of them.
pub(crate) fn list(root: &Path) -> Result<Vec<Mutant>, Error> {
    let mut command = Command::new("cargo-mutants");
    command.current_dir(root).args(["mutants", "--list", "--json", "--workspace"]);
    let only = env::var("FILE").unwrap_or_default();
    if !only.is_empty() {
        // In addition to the configured files.
        command.args(["--file", &only]);
    }
    if let Ok(shard) = env::var("SHARD") {
        command.args(["--sharding", "round-robin", "--shard", &shard]);
    }
    let output = run::output(&mut command)?;
    let mut mutants: Vec<Mutant> = serde_json::from_slice(&output)
        .map_err(|source| Error::Json { command: format!("{command:?}"), source })?;
    mutants.retain(|mutant| mutant.file.starts_with(&only));
    Ok(mutants)
}

pub(crate) fn save(mutants: &[Mutant], path: &Path) -> Result<(), Error> {
    let text = serde_json::to_vec(mutants)
        .map_err(|source| Error::Json { command: path.display().to_string(), source })?;
    fs::write(path, text).map_err(file("write", path))
}

pub(crate) fn load(path: &Path) -> Result<Vec<Mutant>, Error> {
    let text = fs::read(path).map_err(file("read", path))?;
    serde_json::from_slice(&text)
        .map_err(|source| Error::Json { command: path.display().to_string(), source })
}

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

impl Mutant {
    /// The name without the place, which moves with the lines above: `replace < with <= in longest`.
    pub(crate) fn change(&self) -> &str {
        self.name.splitn(4, ':').nth(3).map(str::trim_start).unwrap_or_default()
    }
}

/// The mutants that a run judges: all, those of FILE or of the folder FILE, or each n-th by SHARD=k/n.
#[derive(Debug)]
pub(crate) struct Part {
    files: String,
    shard: (usize, usize),
}

impl Part {
    pub(crate) fn asked_for() -> Result<Part, Error> {
        let files = env::var("FILE").unwrap_or_default();
        let Ok(value) = env::var("SHARD") else { return Ok(Part { files, shard: (0, 1) }) };
        let numbers = value.split_once('/').map(|(k, n)| (k.parse(), n.parse()));
        match numbers {
            Some((Ok(k), Ok(n))) if k < n => Ok(Part { files, shard: (k, n) }),
            _ => Err(Error::Shard(value)),
        }
    }

    pub(crate) fn has(&self, file: &str) -> bool {
        file.starts_with(&self.files)
    }

    pub(crate) fn has_mutant(&self, number: usize, mutant: &Mutant) -> bool {
        self.has(&mutant.file) && number % self.shard.1 == self.shard.0
    }

    pub(crate) fn is_of_files(&self) -> bool {
        !self.files.is_empty()
    }
}

/// The mutants of the configured files, and of FILE beside them: one build serves every run.
pub(crate) fn list(root: &Path) -> Result<Vec<Mutant>, Error> {
    let mut command = Command::new("cargo-mutants");
    command.current_dir(root).args(["mutants", "--list", "--json", "--workspace"]);
    let more = env::var("FILE").unwrap_or_default();
    if !more.is_empty() {
        let more = if root.join(&more).is_dir() { format!("{more}/**") } else { more };
        command.args(["--file", &more]);
    }
    let output = run::output(&mut command)?;
    serde_json::from_slice(&output)
        .map_err(|source| Error::Json { command: format!("{command:?}"), source })
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

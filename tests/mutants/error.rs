//! Errors of a mutation test, one variant per operation.

use std::{io, path::PathBuf};

/// A failure that ends the run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{operation} {}", path.display())]
    File { operation: &'static str, path: PathBuf, source: io::Error },
    #[error("start `{command}`")]
    Start { command: String, source: io::Error },
    #[error("`{command}` failed with {status}")]
    Failed { command: String, status: String },
    #[error("read the answer of `{command}`")]
    Json { command: String, source: serde_json::Error },
    #[error("{}: not Rust as syn knows it", path.display())]
    Syntax { path: PathBuf, source: syn::Error },
    #[error("the copy does not compile, outside of every mutant:\n{0}")]
    Compiler(String),
    #[error("{name}={value} is not a number")]
    Number { name: &'static str, value: String },
    #[error("SHARD={0} is not k/n with k from 0 to n - 1")]
    Shard(String),
    #[error("{}: no list of survivors", path.display())]
    Toml { path: PathBuf, source: Box<toml::de::Error> },
    #[error("usage: mutants prepare|judge")]
    Usage,
}

/// The error of a file operation, for `map_err`.
pub(crate) fn file(
    operation: &'static str,
    path: impl Into<PathBuf>,
) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::File { operation, path, source }
}

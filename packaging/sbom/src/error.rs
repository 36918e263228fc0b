//! Every error of this program.

use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("cannot run {command}: {source}")]
    Run { command: String, source: io::Error },
    #[error("{command} failed: {said}")]
    Failed { command: String, said: String },
    #[error("the output of {command} has an unexpected line: {line:?}")]
    Output { command: String, line: String },
    #[error("cannot read {path}: {source}")]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is no lock file of cargo: {source}")]
    Lock { path: PathBuf, source: Box<toml::de::Error> },
    #[error("{name} {version} is not in Cargo.lock")]
    Unlocked { name: String, version: String },
    #[error("Cargo.lock has no checksum of {name} {version}")]
    Checksum { name: String, version: String },
    #[error("the licence of {name} {version}: {source}")]
    Licence { name: String, version: String, source: Box<spdx::ParseError> },
    #[error("the output of cargo metadata: {source}")]
    Metadata { source: serde_json::Error },
    #[error("{path} names no version of its library")]
    Header { path: PathBuf },
    #[error("cannot encode the bill: {0}")]
    Encode(serde_json::Error),
    #[error("cannot write {path}: {source}")]
    Write { path: PathBuf, source: io::Error },
}

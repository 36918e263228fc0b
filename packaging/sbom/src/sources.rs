//! Where the sources of each package are.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

use crate::command;
use crate::component::Component;
use crate::error::Error;

const CARGO_METADATA: &str = "cargo metadata";

#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Source>,
}

#[derive(Debug, Deserialize)]
struct Source {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

/// The directory of each package's sources, by name and version.
#[derive(Debug)]
pub(crate) struct Sources(BTreeMap<(String, String), PathBuf>);

/// Asks cargo where it has the sources of every package of the workspace.
pub(crate) fn read() -> Result<Sources, Error> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let mut metadata = Command::new(cargo);
    metadata.args(["metadata", "--locked", "--format-version=1"]);
    let text = command::output(CARGO_METADATA, &mut metadata)?;
    let metadata: Metadata =
        serde_json::from_str(&text).map_err(|source| Error::Metadata { source })?;
    let directory = |source: Source| {
        let directory = source.manifest_path.parent().unwrap_or(Path::new(".")).to_owned();
        ((source.name, source.version), directory)
    };
    Ok(Sources::new(metadata.packages.into_iter().map(directory)))
}

impl Sources {
    pub(crate) fn new(all: impl Iterator<Item = ((String, String), PathBuf)>) -> Self {
        Self(all.collect())
    }

    /// Returns the directory of a package; nothing for what the toolchain brings.
    pub(crate) fn of(&self, identity: &(String, String)) -> Option<&Path> {
        self.0.get(identity).map(PathBuf::as_path)
    }

    /// Adds sources that a crate has in a directory of its own.
    pub(crate) fn add(&mut self, component: &Component, directory: PathBuf) {
        self.0.insert(component.identity(), directory);
    }
}

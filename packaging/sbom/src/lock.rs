//! Cargo.lock: the checksum of each package from the registry.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;

#[derive(Debug, Deserialize)]
struct File {
    package: Vec<Locked>,
}

#[derive(Debug, Deserialize)]
struct Locked {
    name: String,
    version: String,
    source: Option<String>,
    checksum: Option<String>,
}

/// Where a package comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A member of the workspace, which no registry has.
    Workspace,
    /// The registry, with the SHA-256 of its archive.
    Registry(String),
}

/// Packages by name and version.
#[derive(Debug)]
pub(crate) struct Lock(BTreeMap<(String, String), Locked>);

pub(crate) fn read(path: &Path) -> Result<Lock, Error> {
    let text = std::fs::read_to_string(path)
        .map_err(|source| Error::Read { path: path.to_owned(), source })?;
    let file: File = toml::from_str(&text)
        .map_err(|source| Error::Lock { path: path.to_owned(), source: Box::new(source) })?;
    let by_identity = |package: Locked| ((package.name.clone(), package.version.clone()), package);
    Ok(Lock(file.package.into_iter().map(by_identity).collect()))
}

impl Lock {
    pub(crate) fn origin(&self, name: &str, version: &str) -> Result<Origin, Error> {
        let (name, version) = (name.to_owned(), version.to_owned());
        match self.0.get(&(name.clone(), version.clone())) {
            None => Err(Error::Unlocked { name, version }),
            Some(Locked { source: None, .. }) => Ok(Origin::Workspace),
            Some(Locked { checksum: Some(checksum), .. }) => Ok(Origin::Registry(checksum.clone())),
            Some(Locked { checksum: None, .. }) => Err(Error::Checksum { name, version }),
        }
    }
}

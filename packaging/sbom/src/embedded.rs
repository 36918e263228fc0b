//! C libraries that a crate compiles from sources of its own. No Cargo.lock names them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::component::Component;
use crate::error::Error;
use crate::sources::Sources;
use crate::tree::{Package, Tree};

/// Returns the C library of each package that has one, and adds its sources to those of the packages.
pub(crate) fn libraries(
    tree: &Tree,
    sources: &mut Sources,
) -> Result<BTreeMap<Package, Component>, Error> {
    let mut libraries = BTreeMap::new();
    for package in tree.dependencies.keys() {
        let identity = (package.name.clone(), package.version.clone());
        let Some(directory) = sources.of(&identity) else { continue };
        if let Some((component, directory)) = library(package, directory)? {
            sources.add(&component, directory);
            libraries.insert(package.clone(), component);
        }
    }
    Ok(libraries)
}

/// Returns the C library that a crate compiles, and the directory of the library's sources; nothing for a crate that compiles none.
fn library(package: &Package, directory: &Path) -> Result<Option<(Component, PathBuf)>, Error> {
    if package.name != "libmimalloc-sys" {
        return Ok(None);
    }
    // As the crate's build script chooses.
    let series =
        if package.features.split(',').any(|feature| feature == "v2") { "v2" } else { "v3" };
    let sources = directory.join("c_src/mimalloc").join(series);
    let header = sources.join("include/mimalloc.h");
    let text = std::fs::read_to_string(&header)
        .map_err(|source| Error::Read { path: header.clone(), source })?;
    let version = version(&text).ok_or(Error::Header { path: header })?;
    let purl = format!("pkg:generic/mimalloc@{version}");
    let component = Component::library("mimalloc", &version, "MIT", purl)
        .at("https://github.com/microsoft/mimalloc");
    Ok(Some((component, sources)))
}

/// Reads the version from mimalloc.h, where `20302` is 2.3.2: two digits each for the minor version and the patch.
fn version(header: &str) -> Option<String> {
    let line = header.lines().find_map(|line| line.strip_prefix("#define MI_MALLOC_VERSION "))?;
    let number: u32 = line.split_whitespace().next()?.parse().ok()?;
    (number >= 10_000)
        .then(|| format!("{}.{}.{}", number / 10_000, number / 100 % 100, number % 100))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_version_as_one_number() {
        let header = "#pragma once\n#define MI_MALLOC_VERSION 20302  // major + 2 digits\n";
        assert_eq!(version(header).as_deref(), Some("2.3.2"));
        // Version 1 had one digit each.
        for other in ["", "#define MI_MALLOC_VERSION 180\n", "#define MI_MALLOC_VERSION x\n"] {
            assert_eq!(version(other), None, "{other:?}");
        }
    }
}

//! Recognises the kind of a directory by its files.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;

use super::found::Found;
use super::{assisted_tree, kind, nmc_directory};
use crate::source::{directory, hosts_directory};

rules! {
    warning DIRECTORY_SKIPPED = "directory-skipped";
}

/// Loads a hosts directory, a directory of manifests, an assisted-service tree or an nmc directory.
pub(super) fn load(path: &str, found: &mut Found) -> Result<(), Error> {
    let hosts = assisted_tree::hosts(path)?;
    if !hosts.is_empty() {
        return assisted_tree::load(path, &hosts, found);
    }
    skipped(path, &mut found.loaded.diagnostics)?;
    let names = directory::files(path)?;
    match nmc_directory::is(&names) {
        true => nmc_directory::load(path, &names, found),
        false => load_files(path, &names, found),
    }
}

/// Loads documents named after hosts, and manifests of any name.
fn load_files(path: &str, names: &[String], found: &mut Found) -> Result<(), Error> {
    let (hosts, faults) = (found.count(), found.loaded.diagnostics.len());
    for file_name in names.iter().filter(|name| is_yaml(name)) {
        let file = directory::join(path, file_name);
        let source = directory::read(path, &file, kind::limit, &mut found.loaded.diagnostics)?;
        let Some(source) = source else { continue };
        if kind::is_of_fleet(&source) {
            kind::load(&source, None, found);
        } else if let Some(name) =
            hosts_directory::accepted_name(&file, file_name, &mut found.loaded)
        {
            hosts_directory::add(name, &source, found);
        }
    }
    if found.count() == hosts {
        hosts_directory::without_hosts(path, faults, &mut found.loaded);
        return Ok(());
    }
    // Beside host files alone, since a directory may hold anything.
    let plain = names.iter().filter(|name| !name.contains('.') && is_document(path, name));
    found.loaded.diagnostics.extend(plain.map(|name| hosts_directory::no_extension(path, name)));
    Ok(())
}

/// True for a file with a document, whatever its name; one that cannot be read is none.
fn is_document(path: &str, name: &str) -> bool {
    let file = directory::join(path, name);
    let mut ignored = Diagnostics::default();
    let is_file = std::fs::symlink_metadata(&file).is_ok_and(|it| it.is_file());
    let mut read = || directory::read(path, &file, kind::limit, &mut ignored).ok().flatten();
    is_file
        && read().is_some_and(|source| {
            nmgen_document::parse(&source)
                .is_ok_and(|document| document.root.get("interfaces").is_some())
        })
}

fn is_yaml(name: &str) -> bool {
    !name.starts_with('.') && (name.ends_with(".yml") || name.ends_with(".yaml"))
}

/// Reports subdirectories with documents, which nothing reads.
fn skipped(path: &str, diagnostics: &mut Diagnostics) -> Result<(), Error> {
    for name in directory::names(path, std::path::Path::is_dir)? {
        let inner = directory::join(path, &name);
        // A link that leads nowhere is no directory.
        let is_own = || directory::leaves(path, &inner).is_ok_and(|leaves| !leaves);
        if !name.starts_with('.')
            && is_own()
            && directory::files(&inner)?.iter().any(|name| is_yaml(name))
        {
            let message = "this subdirectory is not read";
            diagnostics.push(
                Diagnostic::new(DIRECTORY_SKIPPED, message, Place::file(inner))
                    .help("give it as a source of its own"),
            );
        }
    }
    Ok(())
}

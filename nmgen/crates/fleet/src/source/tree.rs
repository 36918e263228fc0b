//! Recognises the kind of a directory by its files, and reads those below it.

use std::path::Path;

use nmgen_core::node::is_empty;
use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;
use nmgen_document::text::Source;

use super::extent::Extent;
use super::found::Found;
use super::kind::Sort;
use super::origin::Claim;
use super::{assisted_tree, descend, directory, hosts_directory, kind};
use crate::parallel;

rules! {
    warning DIRECTORY_SKIPPED = "directory-skipped";
}

/// Loads a hosts directory, a directory of manifests or an assisted-service tree, and those below it. Where files are written, a
/// directory with hosts is read without those below: a copy of old files there must not become a cluster.
pub(super) fn load(path: &str, found: &mut Found) -> Result<(), Error> {
    let (hosts, faults) = (found.count(), found.diagnostics.len());
    let was_unused = found.unused();
    let root = found.origin.clone();
    let assisted = assisted_tree::hosts(path)?;
    if !assisted.is_empty() {
        return assisted_tree::load(path, &assisted, found);
    }
    let names = directory::files(path)?;
    load_hosts(path, path, &names, found)?;
    if matches!(found.extent, Extent::Written | Extent::Converted | Extent::Validated)
        && found.count() > hosts
    {
        return skipped(path, &mut found.diagnostics);
    }
    let mut assisted: Vec<String> = Vec::new();
    for (below, names) in descend::below(path, &mut found.diagnostics)? {
        if assisted.iter().any(|tree| Path::new(&below).starts_with(tree)) {
            continue;
        }
        let parent = Path::new(&below).parent().map(|parent| parent.display().to_string());
        found.origin = root.below(&below);
        if let Some(parent) = parent.filter(|parent| parent.len() > path.len()) {
            let hosts = assisted_tree::hosts(&parent)?;
            if !hosts.is_empty() {
                found.origin = root.below(&parent);
                assisted_tree::load(&parent, &hosts, found)?;
                assisted.push(parent);
                continue;
            }
        }
        load_hosts(path, &below, &names, found)?;
    }
    found.origin = root;
    if found.count() == hosts && found.unused() == was_unused {
        hosts_directory::without_hosts(path, faults, &mut found.diagnostics);
    }
    Ok(())
}

/// The bytes of files that are read side by side: their texts and trees are in memory together. A larger file is read alone.
const AT_ONCE: u64 = 1 << 20;

/// The next of `files`, which are read side by side, and the rest.
fn next<'f>(path: &str, files: &'f [&'f String]) -> (&'f [&'f String], &'f [&'f String]) {
    let mut bytes = 0;
    let is_surplus = |name: &&String| {
        // One whose size nobody tells cannot be read either.
        let size =
            std::fs::metadata(directory::join(path, name)).map_or(0, |metadata| metadata.len());
        bytes += size;
        bytes > AT_ONCE
    };
    let number = files.iter().position(is_surplus).unwrap_or(files.len());
    files.split_at(number.max(1).min(files.len()))
}

/// Reads a file below the directory `tree`; nothing if it is unusable, which the diagnostics report.
fn look(tree: &str, file: &str) -> Result<(Option<(Source, Sort)>, Diagnostics), Error> {
    let mut faults = Diagnostics::default();
    let source = directory::read(tree, file, kind::limit, &mut faults)?;
    let sorted = source.map(|source| {
        let sort = kind::sort(&source);
        (source, sort)
    });
    Ok((sorted, faults))
}

/// Loads the documents named after hosts, and the manifests of any name, of one directory of a tree.
fn load_hosts(tree: &str, path: &str, names: &[String], found: &mut Found) -> Result<(), Error> {
    let hosts = found.count();
    let files: Vec<&String> = names.iter().filter(|name| directory::is_yaml(name)).collect();
    let mut rest = &*files;
    while !rest.is_empty() {
        let some;
        (some, rest) = next(path, rest);
        let looked = parallel::each(some, |name| look(tree, &directory::join(path, name)));
        for (file_name, looked) in some.iter().zip(looked) {
            let (looked, faults) = looked?;
            found.diagnostics.extend(faults);
            match looked {
                None => {}
                Some((source, Sort::Fleet)) => kind::load(&source, found),
                Some((source, Sort::Other(kinds))) => found.add_passed_over(source.name, kinds),
                Some((source, Sort::Host(host))) => {
                    let file = &source.name;
                    let name =
                        hosts_directory::accepted_name(file, file_name, &mut found.diagnostics);
                    if let Some(name) = name {
                        found.origin.claim(Claim::Nothing);
                        add_host(name, &source, *host, found);
                    }
                }
            }
        }
    }
    if found.count() == hosts {
        return Ok(());
    }
    // Beside host files alone, since a directory may hold anything.
    let plain = names.iter().filter(|name| !name.contains('.') && is_document(path, name));
    found.diagnostics.extend(plain.map(|name| {
        hosts_directory::ignored(name, name, Place::file(directory::join(path, name)))
    }));
    Ok(())
}

/// Adds the host of a file, by this name.
fn add_host(name: &str, source: &Source, host: Result<Host, Diagnostics>, found: &mut Found) {
    if is_empty(source.text.as_bytes()) {
        let (message, help) = hosts_directory::EMPTY;
        let place = Place::file(source.name.clone());
        let told = Diagnostic::new(hosts_directory::HOST_FILE_EMPTY, message, place).help(help);
        found.diagnostics.push(told);
        return;
    }
    found.allow(source);
    found.add_read(host.map(|host| Host { name: Some(name.to_owned()), ..host }));
}

/// True for a file with a document, whatever its name; one that cannot be read is none.
fn is_document(path: &str, name: &str) -> bool {
    let file = directory::join(path, name);
    let mut ignored = Diagnostics::default();
    let is_file = std::fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
    let mut read = || directory::read(path, &file, kind::limit, &mut ignored).ok().flatten();
    is_file
        && read().is_some_and(|source| {
            nmgen_document::parse(&source)
                .is_ok_and(|document| document.root.get("interfaces").is_some())
        })
}

/// Reports subdirectories with documents, which nothing reads.
fn skipped(path: &str, diagnostics: &mut Diagnostics) -> Result<(), Error> {
    for name in directory::names(path, std::path::Path::is_dir)? {
        let inner = directory::join(path, &name);
        // A link that leads nowhere is no directory.
        let is_own = || directory::leaves(path, &inner).is_ok_and(|leaves| !leaves);
        if !name.starts_with('.')
            && is_own()
            && directory::files(&inner)?.iter().any(|name| directory::is_yaml(name))
        {
            let message = "this subdirectory is not read";
            let help = "give it as a source of its own";
            diagnostics.add(DIRECTORY_SKIPPED, Place::file(inner), message, help);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{AT_ONCE, next};

    #[test]
    fn a_large_file_is_read_alone() -> std::io::Result<()> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().display().to_string();
        let names = ["a", "b", "c", "d"].map(|name| format!("{name}.yml"));
        for (name, size) in names.iter().zip([10, AT_ONCE, 10, 10]) {
            std::fs::File::create(directory.path().join(name))?.set_len(size)?;
        }
        let files: Vec<&String> = names.iter().collect();
        let (mut rest, mut numbers) = (&*files, Vec::new());
        while !rest.is_empty() {
            let some;
            (some, rest) = next(&path, rest);
            numbers.push(some.len());
        }
        assert_eq!(numbers, [1, 1, 2]);
        Ok(())
    }
}

//! The path of `-o`: a file or a directory, and what is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use nmgen_core::write::{Target, stream::is_stream};
use nmgen_document::error::Error;
use nmgen_document::format::counted;
use nmgen_fleet::output::Output;

/// Endings of names that are meant for a file.
const FILES: &[&str] = &["yaml", "yml", "json", "ign", "kargs", "img"];

/// True for an existing directory, and for a path that ends in a slash.
pub(super) fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// The reason not to write there.
pub(super) fn refusal(output: &Output, path: &Path) -> Option<String> {
    let shown = path.display();
    match output {
        Output::Directory(files) if !is_directory(path) && !is_stream(path) => {
            let is_file = path
                .extension()
                .is_some_and(|extension| FILES.iter().any(|file| extension == *file));
            let count = counted(files.len(), "file");
            is_file.then(|| {
                format!(
                    "the output is {count}, and {shown} the name of one; give a directory: {shown}/"
                )
            })
        }
        Output::File(_) if is_directory(path) => {
            Some(format!("the output is one file, and {shown} a directory; give the file's name"))
        }
        Output::Directory(_) | Output::Named(_) | Output::File(_) => None,
    }
}

/// A note about files of the same kind beside the written ones: those of hosts and interfaces that are no more, perhaps.
pub(super) fn others(target: &Target) -> Result<Option<String>, Error> {
    let (root, files) = (target.root(), target.files());
    let mut written: BTreeMap<&[String], BTreeSet<&str>> = BTreeMap::new();
    let mut endings = BTreeSet::new();
    for file in files {
        written.entry(&file.directories).or_default().insert(&file.name);
        endings.extend(Path::new(&file.name).extension());
    }
    let mut others = Vec::new();
    for (directories, names) in written {
        let directory = below(root, directories);
        let failed =
            |source| Error::ReadDirectory { path: directory.display().to_string(), source };
        for entry in fs::read_dir(&directory).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let is_alike =
                Path::new(&name).extension().is_some_and(|extension| endings.contains(extension));
            if is_alike && !names.iter().any(|own| OsStr::new(own) == name) {
                others.push(directory.join(name));
            }
        }
    }
    others.extend(of_other_hosts(target));
    others.sort();
    others.dedup();
    let Some(first) = others.first() else { return Ok(None) };
    let more = match others.len() - 1 {
        0 => String::new(),
        more => format!(" and {}", counted(more, "other file")),
    };
    Ok(Some(format!("not written by this call, and left there: {}{more}", first.display())))
}

/// Profiles in the directories of other hosts, beside those with the written profiles.
fn of_other_hosts(target: &Target) -> Vec<PathBuf> {
    let mut written: BTreeMap<&[String], BTreeSet<&str>> = BTreeMap::new();
    for file in target.files().iter().filter(|file| is_profile(Path::new(&file.name))) {
        if let Some((host, parent)) = file.directories.split_last() {
            written.entry(parent).or_default().insert(host);
        }
    }
    let mut others = Vec::new();
    for (parent, hosts) in written {
        for entry in entries(&below(target.root(), parent)) {
            let is_directory = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
            let is_own = entry.file_name().to_str().is_some_and(|name| hosts.contains(name));
            if is_directory && !is_own {
                let files = entries(&entry.path()).map(|entry| entry.path());
                others.extend(files.filter(|file| is_profile(file)));
            }
        }
    }
    others
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "nmconnection")
}

/// The entries of a directory; none of one that cannot be read, which may be somebody else's.
fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

fn below(root: &Path, directories: &[String]) -> PathBuf {
    directories.iter().fold(root.to_owned(), |path, name| path.join(name))
}

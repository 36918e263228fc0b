//! The path of `-o`: a file, a directory or a stream, and what is there already.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use nmgen_core::write::Target;
use nmgen_document::error::Error;
use nmgen_document::format::counted;
use nmgen_fleet::output::Output;

/// Endings of names that are meant for a file.
const FILES: &[&str] = &["yaml", "yml", "json", "ign", "kargs", "img"];

/// True for an existing directory, and for a path that ends in a slash.
pub(super) fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

/// The most links on the way to a file, as the kernel has it.
const MOST_LINKS: usize = 40;

/// True for what is written into and never replaced: a device, a FIFO; and an open descriptor, such as /dev/stdout, even
/// with a file behind it.
pub(super) fn is_stream(path: &Path) -> bool {
    match fs::metadata(path) {
        Ok(it) if it.is_dir() => false,
        Ok(it) if !it.is_file() => true,
        // Nothing is behind a closed descriptor.
        Ok(_) | Err(_) => is_descriptor(path, MOST_LINKS),
    }
}

/// True for an open descriptor of a process (`/proc/PID/fd`), and for a link to one.
fn is_descriptor(path: &Path, links: usize) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let Ok(parent) = parent.canonicalize() else { return false };
    if parent.starts_with("/proc") && parent.ends_with("fd") {
        return true;
    }
    let next = fs::read_link(parent.join(name)).ok().filter(|_| links > 0);
    next.is_some_and(|next| is_descriptor(&parent.join(next), links - 1))
}

/// True for a path of this process's own standard output, whose place in a file would be lost if it were opened again.
pub(super) fn is_standard_output(path: &Path) -> bool {
    let id = |path: &Path| fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    id(path).is_some_and(|it| Some(it) == id(Path::new("/proc/self/fd/1")))
}

/// Writes into a stream as a shell's redirection does: nothing is created or cut.
pub(super) fn pour(path: &Path, content: &[u8]) -> Result<(), Error> {
    let failed = |source| Error::WriteFile { path: path.display().to_string(), source };
    // A file behind a descriptor may have text already.
    let mut options = OpenOptions::new();
    let opened = options.write(true).append(path.is_file()).open(path);
    opened.and_then(|mut stream| stream.write_all(content)).map_err(failed)
}

/// The reason not to write there.
pub(super) fn refusal(output: &Output, path: &Path) -> Option<String> {
    let shown = path.display();
    match output {
        Output::Directory(files) if !is_directory(path) && !is_stream(path) => {
            let is_file = path.extension().is_some_and(|it| FILES.iter().any(|file| it == *file));
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
            let is_alike = Path::new(&name).extension().is_some_and(|it| endings.contains(it));
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
            let is_directory = entry.file_type().is_ok_and(|it| it.is_dir());
            let is_own = entry.file_name().to_str().is_some_and(|name| hosts.contains(name));
            if is_directory && !is_own {
                let files = entries(&entry.path()).map(|it| it.path());
                others.extend(files.filter(|file| is_profile(file)));
            }
        }
    }
    others
}

fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "nmconnection")
}

/// The entries of a directory; none of one that cannot be read, which may be somebody else's.
fn entries(directory: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

fn below(root: &Path, directories: &[String]) -> PathBuf {
    directories.iter().fold(root.to_owned(), |path, it| path.join(it))
}

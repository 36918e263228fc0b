//! A collected node as a tree of files and its facts: paths of which commands answer as on the node.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    io::Write as _,
    os::unix::fs::{OpenOptionsExt as _, symlink},
    path::{Component, Path, PathBuf},
};

use tempfile::TempDir;

use super::{
    Bundle, BundleError,
    files::{File, Kind, PLACES},
};
use crate::{document::digest::Digest, paths::Paths};

/// The most directories below one another: what is collected has ten.
const DEPTH: usize = 32;

/// The paths of a collected node; its tree goes when this is dropped.
pub(crate) struct Unpacked {
    pub(crate) paths: Paths,
    _tree: TempDir,
}

/// Writes the files below a new directory that only the caller can read. Links are made last and in the directories of units
/// alone, whose links nobody follows: the file may come from anybody.
pub(crate) fn unpack(bundle: Bundle, from: &Path) -> Result<Unpacked, BundleError> {
    let failed = |source| BundleError::Unpack { path: from.to_path_buf(), source };
    if !is_small(&bundle.files) {
        return Err(BundleError::TooMany { path: from.to_path_buf(), limit: PLACES });
    }
    let tree = tempfile::Builder::new().prefix("dayone-").tempdir().map_err(failed)?;
    let paths = Paths::new(tree.path());
    let place = |file: &File| match is_inside(&file.path) {
        true => Ok(paths.under(&file.path)),
        false => Err(BundleError::Outside { path: from.into(), found: file.path.clone() }),
    };
    let (mut links, mut digests) = (Vec::new(), BTreeMap::new());
    for file in &bundle.files {
        let path = place(file)?;
        let parent = path.parent().unwrap_or(&path);
        fs::create_dir_all(parent).map_err(failed)?;
        match &file.kind {
            Kind::Directory => fs::create_dir_all(&path).map_err(failed)?,
            Kind::File { text, digest, mode } => {
                write(&path, text, *mode).map_err(failed)?;
                let shown = Digest::of_these(text.as_bytes());
                if shown != *digest {
                    digests.insert(shown, digest.clone());
                }
            }
            Kind::Link { target } if is_of_units(&paths, &path) => links.push((path, target)),
            Kind::Link { .. } => {
                return Err(BundleError::Outside { path: from.into(), found: file.path.clone() });
            }
            Kind::Unread { .. } => unreadable(&path).map_err(failed)?,
        }
    }
    for (link, target) in links {
        symlink(target, link).map_err(failed)?;
    }
    Digest::stand_for(digests);
    Ok(Unpacked { paths: paths.with(bundle.facts), _tree: tree })
}

fn write(path: &PathBuf, text: &str, mode: u32) -> io::Result<()> {
    let mut file =
        fs::File::options().write(true).create_new(true).mode(mode & 0o777 | 0o600).open(path)?;
    file.write_all(text.as_bytes())
}

/// A place that was there: the answer to a question for it is an error, as on the node. A directory cannot be read as a file, for
/// root too, and a file has no entries.
fn unreadable(path: &Path) -> io::Result<()> {
    match path.is_dir() {
        true => {
            fs::remove_dir(path)?;
            fs::write(path, "")
        }
        false => fs::create_dir(path),
    }
}

/// Whether these are no more files and directories than a node's: each costs the reader an inode.
fn is_small(files: &[File]) -> bool {
    let mut directories = BTreeSet::new();
    files.len() <= PLACES
        && files.iter().all(|file| {
            let path = Path::new(&file.path);
            let is_flat = path.components().count() <= DEPTH;
            if is_flat {
                directories.extend(path.ancestors().skip(1));
            }
            is_flat && directories.len() <= PLACES
        })
}

fn is_inside(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.next() == Some(Component::RootDir)
        && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Whether this is a place in a directory of units, and no such directory.
fn is_of_units(paths: &Paths, link: &Path) -> bool {
    let directory = link.parent();
    let is_in = |units: &PathBuf| directory.is_some_and(|directory| directory.starts_with(units));
    paths.unit_directories().iter().any(is_in)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside() {
        assert!(is_inside("/etc/hostname"));
        for outside in ["etc/hostname", "/etc/../../root", "../x", ""] {
            assert!(!is_inside(outside), "{outside}");
        }
    }

    #[test]
    fn a_tree_has_no_more_places_than_a_nodes() {
        let directories = |paths: &mut dyn Iterator<Item = String>| {
            let all: Vec<File> = paths.map(|path| File { path, kind: Kind::Directory }).collect();
            is_small(&all)
        };
        let name = |number: usize| format!("/etc/{number}");
        assert!(directories(&mut (0..PLACES).map(name)));
        assert!(!directories(&mut (0..=PLACES).map(name)));
        let chain = |of: usize| move |number: usize| format!("/{number}{}", "/a".repeat(of));
        assert!(directories(&mut (0..100).map(chain(DEPTH - 2))));
        assert!(!directories(&mut (0..1).map(chain(DEPTH - 1))));
        assert!(!directories(&mut (0..PLACES).map(chain(1))), "each has a directory of its own");
    }

    #[test]
    fn what_could_not_be_read_is_there() -> io::Result<()> {
        let tree = tempfile::tempdir()?;
        let [file, directory] = ["worker-0.yml", "openshift"].map(|name| tree.path().join(name));
        fs::create_dir(&directory)?;
        for path in [&file, &directory] {
            unreadable(path)?;
        }
        let answers = [fs::read(&file).map(drop), fs::read_dir(&directory).map(drop)];
        for answer in answers {
            let error = answer.err().map(|error| error.kind());
            assert!(error.is_some_and(|error| error != io::ErrorKind::NotFound), "{error:?}");
        }
        Ok(())
    }

    #[test]
    fn links_are_in_directories_of_units() {
        let paths = Paths::new(Path::new("/tree"));
        for (link, expected) in [
            ("/tree/etc/systemd/system/dayone.service", true),
            ("/tree/etc/systemd/system/multi-user.target.wants/dayone.service", true),
            ("/tree/etc/systemd/system", false),
            ("/tree/etc/nmstate/a.yml", false),
        ] {
            assert_eq!(is_of_units(&paths, Path::new(link)), expected, "{link}");
        }
    }
}

//! A clone of git: what its ignore files leave out. No git is run, and no setting of the machine counts: each clone has them alike.

mod ignore_file;

use std::path::Path;
use std::rc::Rc;

use ignore::Match;
use ignore::gitignore::Gitignore;
use nmgen_document::diagnostic::{Diagnostics, Place};

pub(super) use self::ignore_file::RULES;

/// The directory of a clone, or a file with the place of one elsewhere.
const GIT: &str = ".git";

/// A directory with an ignore file, or a repository's first.
pub(super) struct Level {
    pub(super) repository: Rc<Path>,
    file: Option<(Gitignore, Place)>,
    above: Option<Rc<Self>>,
}

impl Level {
    /// The ignore file that leaves a path out: the lowest one that has a word about it.
    pub(super) fn ignoring(&self, path: &Path, is_directory: bool) -> Option<&Place> {
        let found =
            self.file.as_ref().map(|(file, place)| (file.matched(path, is_directory), place));
        match found {
            Some((Match::Ignore(_), place)) => Some(place),
            Some((Match::Whitelist(_), _)) => None,
            Some((Match::None, _)) | None => {
                self.above.as_ref().and_then(|above| above.ignoring(path, is_directory))
            }
        }
    }
}

/// The levels above a directory, from the repository's first one down; `None` outside of a repository.
pub(super) fn above(directory: &Path, diagnostics: &mut Diagnostics) -> Option<Rc<Level>> {
    if is_repository(directory) {
        return None;
    }
    let above = directory.ancestors().skip(1);
    let first = above.clone().position(is_repository)?;
    let down: Vec<&Path> = above.take(first + 1).collect();
    down.iter().rev().fold(None, |above, path| level(path, path, above.as_ref(), diagnostics))
}

/// The level of a directory in a repository: that of its own ignore file, else the one above.
pub(super) fn level(
    shown: &Path,
    real: &Path,
    above: Option<&Rc<Level>>,
    diagnostics: &mut Diagnostics,
) -> Option<Rc<Level>> {
    let (repository, above): (Rc<Path>, _) = match (is_repository(real), above) {
        (true, _) => (real.into(), None),
        (false, Some(above)) => (above.repository.clone(), Some(above)),
        (false, None) => return None,
    };
    let place = Place::file(shown.join(ignore_file::NAME).display().to_string());
    let file = diagnostics.accept(ignore_file::read(real, &place)).flatten();
    match (file, above) {
        (None, Some(above)) => Some(above.clone()),
        (file, above) => Some(Rc::new(Level {
            repository,
            file: file.map(|file| (file, place)),
            above: above.cloned(),
        })),
    }
}

fn is_repository(directory: &Path) -> bool {
    directory.join(GIT).symlink_metadata().is_ok()
}

//! The directories of a tree: what git would not commit, and hidden files, are left out. A file that git has in its index is read,
//! whatever an ignore file says: `git add --force` commits it, and what is committed is applied. So a pull request hides no host
//! from a check by an ignore file, and what somebody generates into an ignored directory of a clone is not told.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::error::Error;

use super::directory;
use super::git::{self, Level};

rules! {
    warning IGNORED_UNREAD = "ignored-unread";
}

/// The YAML files below a directory, by their directory; its own files are not among them.
///
/// # Errors
/// [`Error::ReadDirectory`].
pub(super) fn below(
    root: &str,
    diagnostics: &mut Diagnostics,
) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let failed = |source| Error::ReadDirectory { path: root.to_owned(), source };
    let real = Path::new(root).canonicalize().map_err(failed)?;
    let above = git::above(&real, diagnostics);
    let mut walk = Walk { diagnostics, found: BTreeMap::new(), ignoring: BTreeMap::new() };
    walk.directory(Path::new(root), &real, 0, above.as_ref())?;
    for (repository, place) in std::mem::take(&mut walk.ignoring) {
        walk.committed(Path::new(root), &real, &repository, place);
    }
    for names in walk.found.values_mut() {
        names.sort_unstable();
        names.dedup();
    }
    Ok(walk.found)
}

struct Walk<'d> {
    diagnostics: &'d mut Diagnostics,
    found: BTreeMap<String, Vec<String>>,
    /// The first ignore file of each repository that leaves something out.
    ignoring: BTreeMap<PathBuf, Place>,
}

impl Walk<'_> {
    /// `shown` is the directory as the caller wrote it, `real` without links.
    fn directory(
        &mut self,
        shown: &Path,
        real: &Path,
        depth: usize,
        above: Option<&Rc<Level>>,
    ) -> Result<(), Error> {
        let level = git::level(shown, real, above, self.diagnostics);
        for (name, is_directory) in entries(shown)? {
            let real = real.join(&name);
            let name = name.to_string_lossy();
            let is_wanted = is_directory || depth > 0 && directory::is_yaml(&name);
            if name.starts_with('.') || !is_wanted {
                continue;
            }
            if let Some(level) = &level
                && let Some(place) = level.ignoring(&real, is_directory)
            {
                let repository = level.repository.to_path_buf();
                self.ignoring.entry(repository).or_insert_with(|| place.clone());
            } else if is_directory {
                self.directory(&shown.join(&*name), &real, depth + 1, level.as_ref())?;
            } else {
                self.add(shown, name.into_owned());
            }
        }
        Ok(())
    }

    fn add(&mut self, directory: &Path, name: String) {
        self.found.entry(directory.display().to_string()).or_default().push(name);
    }

    /// Adds the files in a repository's index, which an ignore file may have left out.
    fn committed(&mut self, root: &Path, real: &Path, repository: &Path, place: Place) {
        let Some(files) = git::indexed(repository) else {
            let message = "what this file leaves out is not read, committed or not: git's index cannot be read";
            let help = "give a directory that is left out as a source of its own";
            self.diagnostics.push(Diagnostic::new(IGNORED_UNREAD, message, place).help(help));
            return;
        };
        for file in files {
            let file = repository.join(file);
            let Ok(below) = file.strip_prefix(real) else { continue };
            let (Some(parent), Some(name)) = (below.parent(), below.file_name()) else { continue };
            let is_hidden = |part: &Path| part.to_string_lossy().starts_with('.');
            let is_below =
                parent != Path::new("") && !below.iter().any(|it| is_hidden(Path::new(it)));
            let is_there = || file.symlink_metadata().is_ok_and(|it| !it.is_dir());
            if is_below && is_there() {
                self.add(&root.join(parent), name.to_string_lossy().into_owned());
            }
        }
    }
}

/// The names in a directory, sorted, and whether each is a directory itself: a link is none.
fn entries(directory: &Path) -> Result<Vec<(OsString, bool)>, Error> {
    let failed = |source| Error::ReadDirectory { path: directory.display().to_string(), source };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push((entry.file_name(), entry.file_type().map_err(failed)?.is_dir()));
    }
    entries.sort_unstable();
    Ok(entries)
}

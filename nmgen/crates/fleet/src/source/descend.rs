//! The directories of a tree: what git's ignore files name, and hidden files, are left out. A YAML file that is left out may be
//! committed all the same, by `git add --force`, and what is committed is applied: a warning says that it is not read, so that no
//! pull request hides a host from a check by an ignore file.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use nmgen_document::diagnostic::{Diagnostics, Place, rules};
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
    let mut walk = Walk { diagnostics, found: BTreeMap::new(), unread: HashSet::new() };
    walk.directory(Path::new(root), &real, 0, above.as_ref())?;
    Ok(walk.found)
}

struct Walk<'d> {
    diagnostics: &'d mut Diagnostics,
    found: BTreeMap<String, Vec<String>>,
    /// Repositories with a YAML file that is not read.
    unread: HashSet<Rc<Path>>,
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
        let failed = |source| Error::ReadDirectory { path: shown.display().to_string(), source };
        for (name, is_directory) in entries(shown).map_err(failed)? {
            let real = real.join(&name);
            let name = name.to_string_lossy();
            let is_wanted = is_directory || depth > 0 && directory::is_yaml(&name);
            if name.starts_with('.') || !is_wanted {
                continue;
            }
            if let Some(level) = &level
                && let Some(place) = level.ignoring(&real, is_directory)
            {
                if !self.unread.contains(&level.repository)
                    && let Some(file) = yaml_file(&shown.join(&*name), is_directory)
                {
                    self.unread.insert(level.repository.clone());
                    self.tell(place, &file);
                }
            } else if is_directory {
                self.directory(&shown.join(&*name), &real, depth + 1, level.as_ref())?;
            } else {
                let of_directory = self.found.entry(shown.display().to_string()).or_default();
                of_directory.push(name.into_owned());
            }
        }
        Ok(())
    }

    /// Once a repository: an ignore file leaves out a YAML file that is there.
    fn tell(&mut self, ignore_file: &Place, file: &Path) {
        let file = file.display().to_string();
        let message = format!(
            "what this file leaves out is not read, committed or not: {}",
            file.escape_debug()
        );
        let help = "give a directory that is left out as a source of its own";
        self.diagnostics.add(IGNORED_UNREAD, ignore_file.clone(), message, help);
    }
}

/// The first YAML file at or below a path, if there is one; a directory that cannot be listed has none.
fn yaml_file(path: &Path, is_directory: bool) -> Option<PathBuf> {
    let name = path.file_name()?.to_string_lossy();
    match is_directory {
        _ if name.starts_with('.') => None,
        true => {
            let mut entries = entries(path).ok()?.into_iter();
            entries.find_map(|(name, is_directory)| yaml_file(&path.join(name), is_directory))
        }
        false => directory::is_yaml(&name).then(|| path.to_owned()),
    }
}

/// The names in a directory, sorted, and whether each is a directory itself: a link is none.
fn entries(directory: &Path) -> std::io::Result<Vec<(OsString, bool)>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        entries.push((entry.file_name(), entry.file_type()?.is_dir()));
    }
    entries.sort_unstable();
    Ok(entries)
}

//! The directories of a tree: what git would not commit, and hidden files, are left out.

use std::collections::BTreeMap;

use ignore::WalkBuilder;
use nmgen_document::error::Error;

use super::directory;

/// The YAML files below a directory, by their directory; its own files are not among them.
///
/// # Errors
/// [`Error::ReadDirectory`].
pub(super) fn below(root: &str) -> Result<BTreeMap<String, Vec<String>>, Error> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // Each clone has them alike: not the settings of one machine.
    let walk = WalkBuilder::new(root)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .follow_links(false)
        .sort_by_file_name(Ord::cmp)
        .build();
    for entry in walk {
        let entry = entry.map_err(|error| Error::ReadDirectory {
            path: root.to_owned(),
            source: error.into_io_error().unwrap_or_else(|| std::io::ErrorKind::Other.into()),
        })?;
        let name = entry.file_name().to_string_lossy();
        let is_file = entry.file_type().is_some_and(|kind| !kind.is_dir());
        if entry.depth() > 1
            && is_file
            && directory::is_yaml(&name)
            && let Some(parent) = entry.path().parent()
        {
            let parent = parent.display().to_string();
            found.entry(parent).or_default().push(name.into_owned());
        }
    }
    Ok(found)
}

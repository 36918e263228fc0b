//! `.gitignore`, as gitignore(5) has it: a regular file. git follows no link in its place either.

use std::io::ErrorKind;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use nmgen_core::source::bounded;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};

rules! {
    warning IGNORE_FILE_UNREAD = "ignore-file-unread";
}

pub(super) const NAME: &str = ".gitignore";

/// The large ones in public repositories have 20 KiB.
const LARGEST: usize = 64 << 10;

/// The ignore file of a directory, which its paths begin with; `None` without one.
///
/// # Errors
/// A warning for one that is not read: it leaves nothing out.
pub(super) fn read(directory: &Path, place: &Place) -> Result<Option<Gitignore>, Diagnostics> {
    let unread = |why: &str| {
        let message = format!("this ignore file is not read, and leaves nothing out: {why}");
        Diagnostics::from(Diagnostic::new(IGNORE_FILE_UNREAD, message, place.clone()))
    };
    let path = directory.join(NAME);
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unread(&error.to_string())),
        Ok(found) if found.is_symlink() => return Err(unread("it is a link")),
        Ok(found) if !found.is_file() => return Err(unread("it is no regular file")),
        Ok(_) => {}
    }
    let bytes = bounded::read(&path, LARGEST).map_err(|error| {
        let is_large = error.kind() == ErrorKind::FileTooLarge;
        unread(&if is_large { "it is larger than 64 KiB".to_owned() } else { error.to_string() })
    })?;
    let mut builder = GitignoreBuilder::new(directory);
    for line in String::from_utf8_lossy(&bytes).trim_start_matches('\u{feff}').lines() {
        // git passes over a pattern that is none.
        let _ = builder.add_line(None, line);
    }
    builder.build().map(Some).map_err(|error| unread(&error.to_string()))
}

//! The last good document, as committed.

use crate::{
    document::{Document, check},
    durable::{self, record::Record},
    error::Error,
    paths::Paths,
    state::{Parsed, State},
};

/// The last good document.
pub(super) fn last_good(paths: &Paths) -> Result<Option<(Document, Parsed)>, Error> {
    let path = paths.last_good();
    if !path.exists() {
        return Ok(None);
    }
    let mut document = Document::read(path)?;
    let parsed = check::check(&document)?;
    // Show the original path: the file on disk is a copy.
    if let Some(committed) = Record::load(paths).committed
        && committed.digest == document.digest
    {
        document.path = committed.source;
    }
    Ok(Some((document, parsed)))
}

/// The state of the last good document, resolved when it was applied: captures and `copy-mac-from`
/// may resolve differently now.
pub(super) fn last_good_state(paths: &Paths) -> Result<Option<State>, Error> {
    let Some((_, parsed)) = last_good(paths)? else { return Ok(None) };
    let bytes = durable::read(&paths.last_good_state())?.unwrap_or_default();
    let then = Parsed::new(&String::from_utf8_lossy(&bytes))?.resolve(None)?;
    Ok(Some(match parsed.needs_current() {
        true => then,
        // Take the document, not its resolved copy: nmstate does not write every key that it reads.
        false => parsed.resolve(None)?.with_links_of(&then),
    }))
}

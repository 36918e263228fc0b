//! The last good document, as it was when it was committed.

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
    // Its place on disk is a copy; what people know is the file it came from.
    if let Some(committed) = Record::load(paths).committed
        && committed.digest == document.digest
    {
        document.path = committed.source;
    }
    Ok(Some((document, parsed)))
}

/// The state that the last good document came to: for a policy what it resolved to then, as its
/// captures and `copy-mac-from` may mean something else by now.
pub(super) fn last_good_state(paths: &Paths) -> Result<Option<State>, Error> {
    let Some((_, parsed)) = last_good(paths)? else { return Ok(None) };
    let bytes = durable::read(&paths.last_good_state())?.unwrap_or_default();
    let then = Parsed::new(&String::from_utf8_lossy(&bytes))?.resolve(None)?;
    Ok(Some(match parsed.needs_current() {
        true => then,
        // The document says more than the copy: nmstate doesn't write everything that it reads.
        false => parsed.resolve(None)?.settled_as(&then),
    }))
}

//! The mark that keeps the field's units off this node's document.

use nmgen::chain;

use crate::{durable, paths::Paths, status::create_runtime_dir};

/// Sets or removes the mark.
pub(super) fn set_undecided(paths: &Paths, undecided: bool) {
    let mark = paths.undecided();
    let done = if undecided {
        mark.parent()
            .map_or(Ok(()), create_runtime_dir)
            .and_then(|()| durable::write(&mark, b"", 0o644))
    } else {
        durable::remove(&mark)
    };
    if let Err(error) = done {
        tracing::warn!("{}", chain(&error));
    }
}

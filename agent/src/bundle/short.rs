//! Short files of the kernel and the system, of which no more than the beginning is read.

use std::{
    io::{self, Read as _},
    path::Path,
};

use nmgen::source::bounded;

use crate::model::facts::SourceAnswer;

/// The first bytes of a reader's answer: a file of the kernel's has no size.
pub(super) fn start(path: &Path, limit: u64) -> io::Result<String> {
    let text = io::read_to_string(bounded::open(path)?.take(limit))?;
    Ok(text.trim_end().to_owned())
}

/// A short file of the kernel's or the system's.
pub(crate) fn short(path: &Path) -> SourceAnswer<String> {
    match start(path, 4096) {
        Ok(text) => SourceAnswer::Value(text),
        Err(error) => SourceAnswer::Error(error.to_string()),
    }
}

//! A place in a file, with the line to show.

use std::sync::Arc;

use super::Position;

/// A place in a file, or the file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it, or `<stdin>`.
    pub file: Arc<str>,
    /// Where in the file, with the line to show.
    pub position: Option<Excerpt>,
    /// Where in the text that the value at `position` holds in encoded form (base64, say).
    pub decoded: Option<Excerpt>,
}

impl Place {
    /// A file as a whole.
    pub(crate) fn file(name: impl Into<Arc<str>>) -> Self {
        Self { file: name.into(), position: None, decoded: None }
    }

    /// `FILE:LINE`, to name a second place in a message.
    pub(crate) fn shown(&self) -> String {
        match &self.position {
            Some(position) => format!("{}:{}", self.file, position.start.line),
            None => self.file.to_string(),
        }
    }
}

/// A position and the line that it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The first character.
    pub start: Position,
    /// How many characters to underline, at least 1.
    pub width: u32,
    /// The line, without its line break; of a very long one the part around the first character.
    pub line: Arc<str>,
    /// How many characters of the line are left out before that part.
    pub skipped: u32,
}

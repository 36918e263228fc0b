//! A place in a file, with its line.

use std::ops::Range;
use std::sync::Arc;

use super::Position;
use super::secret::Secrets;

/// A place in a file, or the file as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it, or `<stdin>`.
    pub file: Arc<str>,
    /// The position and its line; `None` for the file as a whole.
    pub position: Option<Excerpt>,
    /// The position within the decoded text, if the value at `position` is encoded (base64, say).
    pub decoded: Option<Excerpt>,
    /// The secrets of its text.
    pub secrets: Secrets,
}

impl Place {
    /// A file as a whole.
    pub fn file(name: impl Into<Arc<str>>) -> Self {
        Self { file: name.into(), position: None, decoded: None, secrets: Secrets::default() }
    }

    /// The line in the text that has the fault: in the decoded one, if the value is encoded.
    pub fn line(&self) -> Option<u32> {
        self.decoded.as_ref().or(self.position.as_ref()).map(|excerpt| excerpt.start.line)
    }

    /// `FILE:LINE`, to name a second place in a message.
    pub fn shown(&self) -> String {
        match &self.position {
            Some(position) => format!("{}:{}", self.file, position.start.line),
            None => self.file.to_string(),
        }
    }
}

/// A position and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The first character.
    pub start: Position,
    /// The number of the place's characters in this line, at least 1.
    pub width: u32,
    /// The line, without its line break and without secrets; of a very long line the part around the position.
    pub line: Arc<str>,
    /// The number of characters left out before that part.
    pub skipped: u32,
    /// The characters of `line` to underline, from 0: at least one.
    pub marked: Range<u32>,
}

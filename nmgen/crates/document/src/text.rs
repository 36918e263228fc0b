//! Text and positions. Imports no other module but the bounds of a file and the format of what is shown.

mod breaks;
pub mod lines;
pub mod place;
pub mod secret;

use std::sync::Arc;

/// A document's text, shared by every diagnostic that quotes it.
pub type Text = Arc<str>;

/// One file's text and the name that diagnostics give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the caller wrote it, or `<stdin>`.
    pub name: Arc<str>,
    /// The text: valid UTF-8, without a byte-order mark, at most
    /// [`MAX_FLEET_BYTES`](crate::size::MAX_FLEET_BYTES) long.
    pub text: Text,
}

/// A position in a file: line and column from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

/// From the first character to the one after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// The character after the last.
    pub end: Position,
}

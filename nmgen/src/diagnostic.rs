//! What is wrong with an input: a rule, a message and a place.

mod json;
mod render;

use std::fmt;
use std::sync::Arc;

pub use self::json::to_json;
pub use self::render::{Style, render};
use crate::document::Position;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Probably not meant, or lost on the way.
    Warning,
    /// Cannot work, or is dangerous.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A rule's stable kebab-case name and severity. The documentation has a section for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    /// The stable name.
    pub name: &'static str,
    /// The severity of every diagnostic of this rule.
    pub severity: Severity,
}

impl Rule {
    pub(crate) const fn error(name: &'static str) -> Self {
        Self { name, severity: Severity::Error }
    }

    pub(crate) const fn warning(name: &'static str) -> Self {
        Self { name, severity: Severity::Warning }
    }
}

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

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that found it.
    pub rule: Rule,
    /// What is wrong, in one line, without the place.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Where.
    pub place: Place,
}

impl Diagnostic {
    pub(crate) fn new(rule: Rule, message: impl Into<String>, place: Place) -> Self {
        Self { rule, message: message.into(), help: None, place }
    }

    #[must_use]
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// True when the input must not be used.
    pub fn is_error(&self) -> bool {
        self.rule.severity == Severity::Error
    }

    /// In the order of files, lines and columns.
    pub(crate) fn sort_key(&self) -> SortKey {
        let start = |excerpt: &Option<Excerpt>| excerpt.as_ref().map(|excerpt| excerpt.start);
        let place = &self.place;
        (place.file.clone(), start(&place.position), start(&place.decoded), self.rule.name)
    }
}

type SortKey = (Arc<str>, Option<Position>, Option<Position>, &'static str);

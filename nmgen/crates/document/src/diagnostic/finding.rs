//! A finding.

use std::sync::Arc;

use super::rule::{Rule, Severity};
use crate::format::printable;
use crate::text::Position;
use crate::text::place::{Excerpt, Place};

/// A fault of an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule.
    pub rule: Rule,
    /// The fault in one line, without the place.
    pub message: String,
    /// The remedy.
    pub help: Option<String>,
    /// The place.
    pub place: Place,
    /// The host whose document it is about, if the source names it.
    pub host: Option<Arc<str>>,
}

impl Diagnostic {
    /// A finding without a remedy, as it is shown; secrets of the place's text are hidden.
    pub fn new(rule: Rule, message: impl Into<String>, place: Place) -> Self {
        let message = printable(&place.secrets.hidden(message.into()));
        Self { rule, message, help: None, place, host: None }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(printable(&self.place.secrets.hidden(help.into())));
        self
    }

    /// True when the input must not be used.
    pub fn is_error(&self) -> bool {
        self.rule.severity == Severity::Error
    }

    /// In one line: `worker-0.yml:15:11: VLAN id 5000 is not in 1..=4094 [vlan-id-range]`.
    pub fn one_line(&self) -> String {
        let place = match &self.place.position {
            Some(at) => format!(":{}:{}", at.start.line, at.start.column),
            None => String::new(),
        };
        format!("{}{place}: {} [{}]", printable(&self.place.file), self.message, self.rule.name)
    }

    /// Sorts by file, line and column.
    pub fn sort_key(&self) -> SortKey {
        let start = |excerpt: &Option<Excerpt>| excerpt.as_ref().map(|excerpt| excerpt.start);
        let place = &self.place;
        (place.file.clone(), start(&place.position), start(&place.decoded), self.rule.name)
    }
}

type SortKey = (Arc<str>, Option<Position>, Option<Position>, &'static str);

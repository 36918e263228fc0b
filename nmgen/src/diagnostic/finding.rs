//! One thing that is wrong with an input.

use std::sync::Arc;

use super::rule::{Rule, Severity};
use crate::text::Position;
use crate::text::place::{Excerpt, Place};

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

    /// In one line: `worker-0.yml:15:11: VLAN id 5000 is not in 1..=4094 [vlan-id-range]`.
    pub fn one_line(&self) -> String {
        let place = match &self.place.position {
            Some(at) => format!(":{}:{}", at.start.line, at.start.column),
            None => String::new(),
        };
        format!("{}{place}: {} [{}]", self.place.file, self.message, self.rule.name)
    }

    /// In the order of files, lines and columns.
    pub(crate) fn sort_key(&self) -> SortKey {
        let start = |excerpt: &Option<Excerpt>| excerpt.as_ref().map(|excerpt| excerpt.start);
        let place = &self.place;
        (place.file.clone(), start(&place.position), start(&place.decoded), self.rule.name)
    }
}

type SortKey = (Arc<str>, Option<Position>, Option<Position>, &'static str);

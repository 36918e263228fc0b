//! A finding.

use std::sync::Arc;

use super::rule::{Rule, Severity};
use crate::format::{printable, shortened};
use crate::text::Position;
use crate::text::place::{Excerpt, Place};

/// The bytes of a message, or of a remedy: a condition of Kubernetes has room for 32 KiB, and for several findings.
const LONGEST: usize = 1_000;
/// A longer word is a value that nobody reads to its end.
const LONGEST_WORD: usize = 240;
/// The name of a file has all of a message's room: a place that is cut leads nowhere.
const LONGEST_PATH: usize = LONGEST;
const MOST_LOOKED_AT: usize = 64 << 10;

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
    /// The other host of a finding between two.
    pub other: Option<Box<OtherHost>>,
}

/// The other host of a finding between two, and the place there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OtherHost {
    /// Its name, if the source has one.
    pub name: Option<Arc<str>>,
    /// The value that both have.
    pub place: Place,
}

impl Diagnostic {
    /// A finding without a remedy, as it is shown: secrets of the place's text are hidden, and long words cut.
    pub fn new(rule: Rule, message: impl Into<String>, place: Place) -> Self {
        let message = shown(&place, &message.into());
        Self { rule, message, help: None, place, host: None, other: None }
    }

    /// Adds the remedy.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(shown(&self.place, &help.into()));
        self
    }

    /// Adds the other host of a finding between two.
    #[must_use]
    pub fn with(mut self, name: Option<&str>, place: Place) -> Self {
        self.other = Some(Box::new(OtherHost { name: name.map(Arc::from), place }));
        self
    }

    /// Its place, and the one in the document of the other host.
    pub fn places(&self) -> impl Iterator<Item = &Place> {
        [&self.place].into_iter().chain(self.other.as_deref().map(|other| &other.place))
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

/// The text of a finding, without secrets and controls. A part is looked at that is long enough for any word of nmgen's own: the
/// cost does not grow with a value that is quoted.
fn shown(place: &Place, text: &str) -> String {
    let text = printable(&place.secrets.hidden_start(text, MOST_LOOKED_AT));
    let mut words = String::with_capacity(text.len());
    for word in text.split_inclusive(' ') {
        words += &shortened(word, if word.contains('/') { LONGEST_PATH } else { LONGEST_WORD });
    }
    shortened(&words, LONGEST).into_owned()
}

type SortKey = (Arc<str>, Option<Position>, Option<Position>, &'static str);

#[cfg(test)]
mod tests {
    use super::{Diagnostic, LONGEST};
    use crate::space::SYNTAX;
    use crate::text::lines::Lines;
    use crate::text::{Position, Source, Span};

    #[test]
    fn a_message_of_any_length_is_cut_and_has_no_part_of_a_secret() {
        let secrets: Vec<String> = (0..200).map(|more| "s3cr&t".repeat(20 + more)).collect();
        let line = |secret: &String| format!("- password: {secret}\n");
        let text: String = secrets.iter().map(line).collect();
        let source = Source { name: "test".into(), text: text.into() };
        let start = Position { line: 1, column: 1 };
        let place = Lines::new(&source).place(Span { start, end: start });
        for before in 0..2 * LONGEST {
            if before % 97 != 0 {
                continue;
            }
            let message = format!("{} {} is none", "b".repeat(before), secrets[199]);
            let found = Diagnostic::new(SYNTAX, message, place.clone()).message;
            assert!(found.len() < LONGEST && found.ends_with(" is none"), "{found}");
            assert!(!found.contains("s3"), "{found}");
        }
        let long = "a very long list of words, ".repeat(100_000);
        let found = Diagnostic::new(SYNTAX, long, place).message;
        assert!(found.len() <= LONGEST + 3 && found.starts_with("a very long"), "{found}");
    }
}

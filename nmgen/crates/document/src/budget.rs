//! The values that a file may have, with its aliases expanded, and the texts embedded in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A thousand interfaces have about 20,000 values.
const MOST: usize = 250_000;
/// A text above the bound may have one value per this many bytes, as it describes a fleet: its keys and values are longer.
const BYTES_PER_VALUE: usize = 6;
/// A text may have so many commas and opening brackets, and a longer one as many as JSON without blanks has, one for some bytes.
/// The scanner keeps the tokens of a collection in brackets that may be a key until its end: five of 100 bytes for each entry.
const MOST_MARKS: usize = 95_000;
const BYTES_PER_MARK: usize = 11;
/// A repeated text counts as one value more for this many bytes behind the first ones, which most words have at most.
const BYTES_REPEATED: usize = 16;
const BYTES_FREE: usize = 64;

/// The values so far of a file; its documents and the texts embedded in it have them together.
#[derive(Debug, Clone)]
pub(crate) struct Budget(Arc<Account>);

#[derive(Debug)]
struct Account {
    bytes: AtomicUsize,
    values: AtomicUsize,
}

/// Always equal: no part of a text's identity.
impl PartialEq for Budget {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Budget {
    /// For a file with this text.
    pub(crate) fn of(text: &str) -> Self {
        Self(Arc::new(Account { bytes: text.len().into(), values: 0.into() }))
    }

    /// Adds a text that is embedded in the file, encoded or as it is.
    pub(crate) fn embed(&self, text: &str) {
        self.0.bytes.fetch_add(text.len(), Ordering::Relaxed);
    }

    /// The most values.
    pub(crate) fn most(&self) -> usize {
        MOST.max(self.0.bytes.load(Ordering::Relaxed) / BYTES_PER_VALUE)
    }

    /// Returns the most commas and opening brackets.
    pub(crate) fn most_marks(&self) -> usize {
        MOST_MARKS.max(self.0.bytes.load(Ordering::Relaxed) / BYTES_PER_MARK)
    }

    /// The number of values so far.
    pub(crate) fn spent(&self) -> usize {
        self.0.values.load(Ordering::Relaxed)
    }

    /// The number of values that a repeated key, or the text of a value, counts as besides the value.
    pub(crate) fn of_repeated(text: &str) -> usize {
        text.len().saturating_sub(BYTES_FREE) / BYTES_REPEATED
    }

    /// Counts further values; true if there may be so many.
    pub(crate) fn spend(&self, values: usize) -> bool {
        self.0.values.fetch_add(values, Ordering::Relaxed) + values <= self.most()
    }

    /// True if no value may follow.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.spent() > self.most()
    }
}

#[cfg(test)]
mod tests {
    use crate::nested::parse_stream;
    use crate::text::Source;

    /// Whether each document of a file is read.
    fn is_read(text: &str) -> Vec<bool> {
        let source = Source { name: "test".into(), text: text.into() };
        parse_stream(&source).iter().map(Result::is_ok).collect()
    }

    #[test]
    fn repeated_text_counts_by_its_length() {
        let repeated = |length: usize, times: usize| {
            let aliases = "*a, ".repeat(times);
            is_read(&format!("a: &a '{}'\nb: [{aliases}]\n", "x".repeat(length)))
        };
        assert_eq!(repeated(64, 90_000), [true]);
        assert_eq!(repeated(100_000, 30), [true]);
        assert_eq!(repeated(100_000, 60), [false]);
        let key = format!("a: &a {{{}: 1}}\nb: [{}]\n", "x".repeat(1_000), "*a, ".repeat(20_000));
        assert_eq!(is_read(&key), [false]);
    }

    #[test]
    fn a_fleet_may_repeat_one_network() {
        let card = |number: u32| {
            format!(
                "- {{name: eno{number}, type: ethernet, state: up, mtu: 9000, description: port {number} of the switch in the rack on the left}}\n"
            )
        };
        let cards: String = (0..8).map(card).collect();
        let hosts: String =
            (0..3_000).map(|host| format!("- {{hostname: n{host}, network: *n}}\n")).collect();
        assert_eq!(is_read(&format!("network: &n\n{cards}hosts:\n{hosts}")), [true]);
    }

    #[test]
    fn the_documents_of_a_file_have_the_values_together() {
        let list = "*a, ".repeat(1_000);
        let section = format!("a: &a [{}]\nb: [{list}]\n", "1, ".repeat(98));
        let file = |count: usize| is_read(&vec![&*section; count].join("---\n"));
        assert_eq!(file(2), [true, true]);
        assert_eq!(file(40), [true, true, false]);
    }

    #[test]
    fn a_long_file_has_more() {
        let list = "*a, ".repeat(1_000);
        let section = format!("a: &a [{}]\nb: [{list}]\n", "1, ".repeat(98));
        let comment = format!("# {}\n", "x".repeat(3 << 20));
        assert_eq!(is_read(&([&*section; 4].join("---\n") + &comment)), [true; 4]);
    }

    #[test]
    fn a_text_is_refused_by_its_brackets_before_it_is_scanned() {
        for (before, item, marks, after) in
            [("{a: [", "a,", 1, "]}\n"), ("a:\n  [", "{},", 2, "]\n"), ("# ", "[,", 2, "\n")]
        {
            let text = |count: usize| format!("{before}{}{after}", item.repeat(count));
            assert_eq!(is_read(&text(super::MOST_MARKS / marks / 2)), [true], "{item}");
            assert_eq!(is_read(&text(super::MOST_MARKS / marks + 1)), [false], "{item}");
        }
    }
}

//! A change of the network in force that somebody made on purpose: `dayone adopt` says so, and it is no drift any more.

use serde::{Deserialize, Serialize};

use super::boot::now;
use crate::document::digest::Digest;

/// A part of the commit that it was adopted beside: a document that is changed or applied anew has undone the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct AdoptedChange {
    /// Seconds since 1970.
    pub(crate) at: u64,
    pub(crate) reason: Option<String>,
    /// Digests of the differences: their values may be secrets.
    differences: Vec<Digest>,
}

impl AdoptedChange {
    /// The adoption of these differences, now.
    pub(crate) fn new(lines: &[String], reason: Option<String>) -> Self {
        let differences = lines.iter().map(|line| Digest::of(line.as_bytes())).collect();
        Self { at: now(), reason, differences }
    }

    /// Whether each of these differences is adopted, with its values.
    pub(crate) fn has_all(&self, lines: &[String]) -> bool {
        lines.iter().all(|line| self.differences.contains(&Digest::of(line.as_bytes())))
    }

    /// The time since, in its largest unit.
    pub(crate) fn age(&self) -> String {
        let seconds = now().saturating_sub(self.at);
        let (number, unit) = match seconds {
            0..120 => return "just now".to_owned(),
            120..7200 => (seconds / 60, "minutes"),
            7200..172_800 => (seconds / 3600, "hours"),
            _ => (seconds / 86_400, "days"),
        };
        format!("{number} {unit} ago")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_adopted_with_its_values() {
        let lines = ["~ a: 1 -> 2", "+ b: 1"].map(str::to_owned);
        let adopted = AdoptedChange::new(&lines, None);
        assert!(adopted.has_all(&lines) && adopted.has_all(&lines[1..]) && adopted.has_all(&[]));
        assert!(!adopted.has_all(&["~ a: 1 -> 3".to_owned()]));
    }

    #[test]
    fn the_age_is_told_in_its_largest_unit() {
        let mut adopted = AdoptedChange::new(&[], None);
        for (seconds, expected) in [
            (5, "just now"),
            (600, "10 minutes ago"),
            (7200, "2 hours ago"),
            (259_200, "3 days ago"),
        ] {
            adopted.at = now() - seconds;
            assert_eq!(adopted.age(), expected);
        }
    }
}

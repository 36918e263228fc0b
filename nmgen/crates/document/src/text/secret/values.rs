//! Values that are secrets, and where a message has them.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::forms;
use super::keys::{FIELDS, HIDDEN};
use crate::format::cut;

/// A shorter secret may be any word of a message, and is hidden in quotes alone.
const SHORTEST: usize = 6;

/// A longer address is none.
const LONGEST_ADDRESS: usize = 4 << 10;

/// The values in order, each with the index of the longest other one that it begins with.
#[derive(Debug, Default)]
pub(super) struct Values(Vec<(String, Option<usize>)>);

impl Values {
    pub(super) fn of(values: BTreeSet<String>) -> Self {
        let mut known: Vec<(String, Option<usize>)> = Vec::with_capacity(values.len());
        for value in values {
            // A value that is no beginning of this one is none of a later one either.
            let mut beginning = known.len().checked_sub(1);
            while let Some((shorter, next)) = beginning.and_then(|at| known.get(at))
                && !value.starts_with(shorter)
            {
                beginning = *next;
            }
            known.push((value, beginning));
        }
        Self(known)
    }

    /// The lengths of the values that a text begins with, the longest first.
    fn beginning(&self, text: &str) -> impl Iterator<Item = usize> {
        // All of them are beginnings of the last value that is not behind the text in order.
        let last = self.0.partition_point(|(value, _)| value.as_str() <= text).checked_sub(1);
        let value = last.and_then(|last| self.0.get(last)).map_or("", |(value, _)| value);
        let same = value.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let next = |at: &usize| self.0.get(*at).and_then(|(_, shorter)| *shorter);
        let chain = std::iter::successors(last, next).filter_map(|at| self.0.get(at));
        chain.map(|(value, _)| value.len()).filter(move |length| *length <= same)
    }

    /// The first bytes of a message, about so many, without secrets: of one that goes on behind them nothing is shown.
    pub(super) fn hidden<'m>(&self, message: &'m str, most: usize) -> Cow<'m, str> {
        let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
        // The part that is shown, and an address that begins in it.
        let forms = forms::found(cut(message, most.saturating_add(LONGEST_ADDRESS)));
        if self.0.is_empty() && forms.is_empty() {
            return Cow::Borrowed(cut(message, most));
        }
        let mut forms = forms.into_iter().peekable();
        let (mut shown, mut hidden) = (String::new(), 0);
        for (at, character) in message.char_indices().take_while(|(at, _)| *at < most) {
            let rest = &message[at..];
            let is_quoted = |length: &usize| {
                message[..at].ends_with(is_quote) && rest[*length..].starts_with(is_quote)
            };
            let is_secret = |length: &usize| is_telling(&rest[..*length]) || is_quoted(length);
            let secret = self.beginning(rest).find(is_secret).map(|length| at + length);
            let form = forms.next_if(|form| form.start <= at).map(|form| form.end);
            match secret.max(form) {
                Some(end) => {
                    if at >= hidden {
                        shown.push_str(HIDDEN);
                    }
                    hidden = hidden.max(end);
                }
                None if at >= hidden => shown.push(character),
                None => {}
            }
        }
        Cow::Owned(shown)
    }
}

/// True for a value that is no word of nmgen's own.
fn is_telling(value: &str) -> bool {
    value.len() >= SHORTEST && !FIELDS.as_flattened().iter().any(|name| name.contains(value))
}

#[cfg(test)]
mod tests {
    use super::Values;

    fn hidden(values: &[&str], message: &str) -> String {
        let values = Values::of(values.iter().map(|value| (*value).to_owned()).collect());
        values.hidden(message, usize::MAX).into_owned()
    }

    #[test]
    fn the_longest_secret_is_hidden_and_short_ones_in_quotes_alone() {
        let values = ["secret", "secret-0", "secret-00", "secret-1x", "abc", "marker"];
        for (message, expected) in [
            ("a secret-00 b", "a <hidden> b"),
            ("a secret-001 b", "a <hidden>1 b"),
            ("a secret-1 b", "a <hidden>-1 b"),
            ("a secre b abc", "a secre b abc"),
            ("is 'abc' not abc", "is '<hidden>' not abc"),
            ("secretmarker", "<hidden><hidden>"),
            ("é secret\\u{e9}", "é <hidden>\\u{e9}"),
            ("", ""),
        ] {
            assert_eq!(hidden(&values, message), expected);
        }
        assert_eq!(hidden(&["abcdef", "defghi"], "abcdefghi."), "<hidden>.");
    }

    #[test]
    fn nothing_is_shown_of_a_secret_that_goes_on_behind_the_part_shown() {
        let values = Values::of(["secret-secret".to_owned()].into());
        assert_eq!(values.hidden("a secret-secret b", 5), "a <hidden>");
        assert_eq!(values.hidden("http://user:password@host", 14), "http://user:<hidden>");
    }

    #[test]
    fn many_lengths_cost_little() {
        let values = Values::of((1..700).map(|length| "a".repeat(length)).collect());
        let message = format!("{}b", "a".repeat(650)).repeat(20);
        assert!(values.hidden(&message, usize::MAX).starts_with("<hidden>b<hidden>b"));
    }
}

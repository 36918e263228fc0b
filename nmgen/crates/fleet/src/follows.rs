//! One mistake, one finding: what follows from an error at the same place or about the same interface is not told, and what follows
//! from a document's errors in a comparison with others is not either.

use std::ops::RangeInclusive;

use nmgen_core::interface;
use nmgen_core::source::Host;
use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Excerpt, Place};
use nmgen_document::text::{Position, Span};

use crate::confusable;

/// Errors of nmstate's: a value has another meaning, or none.
const UNREAD: &[&str] = &["invalid-value", "missing-field", "unknown-field"];

/// Rules whose findings follow from the errors of others.
const FOLLOWS: &[(&str, &[&str])] = &[
    ("address-ignored", UNREAD),
    ("base-undeclared", UNREAD),
    ("base-undeclared", &["interface-name-characters", "sriov-name"]),
    ("free-form-key", &["control-character"]),
    ("gateway-outside-subnets", UNREAD),
    ("gateway-outside-subnets", &["address-syntax", "prefix-length-range"]),
    ("mtu-above-base", &["mtu-range"]),
    ("mtu-above-port", &["mtu-range"]),
    ("port-undeclared", UNREAD),
    ("port-undeclared", &["interface-name-characters", "sriov-name"]),
    ("prefix-length-short", &["address-syntax"]),
    ("route-family-disabled", UNREAD),
    ("search-domain-syntax", &["list-separator"]),
    ("section-missing", UNREAD),
    ("type-missing", UNREAD),
    ("unsafe-profile", &["veth-peer"]),
];

fn is_consequence(rule: &str, cause: &str) -> bool {
    FOLLOWS.iter().any(|(own, causes)| *own == rule && causes.contains(&cause))
}

fn is_cause(rule: &str) -> bool {
    FOLLOWS.iter().any(|(_, causes)| causes.contains(&rule))
}

/// Where a finding is, within an encoded value too.
type At = (Option<Position>, Option<Position>);

fn at(place: &Place) -> At {
    let start = |excerpt: &Option<Excerpt>| excerpt.as_ref().map(|excerpt| excerpt.start);
    (start(&place.position), start(&place.decoded))
}

/// An interface that an error is in.
struct Faulty {
    rule: &'static str,
    range: RangeInclusive<At>,
    /// As it was meant.
    name: Option<String>,
}

/// Drops consequences of errors from the findings of a document.
pub(crate) fn within(document: &Document<'_>, found: &mut Diagnostics) {
    if found.len() < 2 || !found.has_errors() {
        return;
    }
    let is_cause = |finding: &&Diagnostic| finding.is_error() && is_cause(finding.rule.name);
    let errors: Vec<Diagnostic> = found.iter().filter(is_cause).cloned().collect();
    let faulty = faulty(document, &errors);
    found.retain(|finding| {
        let rule = finding.rule.name;
        let mut here = errors.iter().filter(|error| error.place == finding.place);
        let is_about = |interface: &Faulty| {
            let mut names = finding.message.split([' ', ',']);
            let is_name = |word: &str| interface.name.as_deref() == Some(word);
            match rule {
                // It is about another interface than the one that it is in, and names that one first.
                "base-undeclared" | "port-undeclared" => names.next().is_some_and(is_name),
                // It is about the files of all interfaces.
                "unsafe-profile" => true,
                _ => interface.range.contains(&at(&finding.place)) || names.any(is_name),
            }
        };
        let mut about = faulty.iter().filter(|faulty| is_consequence(rule, faulty.rule));
        !here.any(|error| is_consequence(rule, error.rule.name)) && !about.any(is_about)
    });
}

/// The interface of each error that is in one.
fn faulty(document: &Document<'_>, errors: &[Diagnostic]) -> Vec<Faulty> {
    let mut faulty = Vec::new();
    for interface in interface::all(&document.root) {
        let range = range(document, interface.span);
        // A misspelt key still has the name, and is the first.
        let first = || interface.entries().first().and_then(|entry| entry.node.text());
        let name = interface.text_at("name").or_else(first).map(confusable::plain);
        let name = name.filter(|name| !name.is_empty());
        let inside = errors.iter().filter(|error| range.contains(&at(&error.place)));
        faulty.extend(inside.map(|error| Faulty {
            rule: error.rule.name,
            range: range.clone(),
            name: name.clone(),
        }));
    }
    faulty
}

/// The first and the last place of a part.
fn range(document: &Document<'_>, Span { start, end }: Span) -> RangeInclusive<At> {
    let of = |position| at(&document.place(Span { start: position, end: position }));
    of(start)..=of(end)
}

/// Drops warnings of comparisons, the findings behind the first `known`, about documents that have errors: a mistake in a document
/// makes it differ from others.
pub(crate) fn between(hosts: &[Host], has_errors: &[bool], known: usize, found: &mut Diagnostics) {
    let faulty = hosts.iter().zip(has_errors).filter(|(_, has_errors)| **has_errors);
    let lines = |host: &Host| {
        let document = host.document()?;
        let Span { start, end } = document.root.span;
        let line = |position| document.place(Span { start: position, end: position });
        let (first, last) = (line(start), line(end));
        Some((first.file.clone(), of_file(&first)..=of_file(&last)))
    };
    let faulty: Vec<_> = faulty.filter_map(|(host, _)| lines(host)).collect();
    let mut index = 0;
    found.retain(|finding| {
        index += 1;
        let place = &finding.place;
        let mut faulty = faulty.iter();
        index <= known
            || finding.is_error()
            || !faulty.any(|(file, lines)| *file == place.file && lines.contains(&of_file(place)))
    });
}

fn of_file(place: &Place) -> Option<u32> {
    place.position.as_ref().map(|excerpt| excerpt.start.line)
}

#[cfg(test)]
mod tests {
    use super::FOLLOWS;

    #[test]
    fn every_name_in_the_table_is_one_of_a_rule() {
        let rules = crate::rules();
        let names = FOLLOWS.iter().flat_map(|(own, causes)| [&[*own], *causes].concat());
        for name in names {
            assert!(rules.iter().any(|rule| rule.name == name), "{name}");
        }
    }
}

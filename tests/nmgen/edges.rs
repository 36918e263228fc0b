//! The findings at the edges of each rule: below, at and above a bound, and each value that decides.
//!
//! A file of `tests/fixtures/edges` has small documents; the file beside it, with the ending `expected`, their findings,
//! offline and on a node. `BLESS=1` rewrites the latter.

use std::{fmt::Write as _, fs};

use nmgen::diagnostic::Diagnostics;
use nmgen::source::{Hosts, Source};
use tests::documents::{self, Document};
use tests::program::root;

#[tests::case]
fn findings_change_where_the_rules_say() {
    let mut faults = Vec::new();
    for entry in fs::read_dir(root().join("tests/fixtures/edges")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "yml") {
            continue;
        }
        let documents = documents::named_in(&fs::read_to_string(&path).unwrap());
        assert!(!documents.is_empty(), "{}", path.display());
        let found: String = documents.iter().map(findings).collect();
        let golden = path.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, &found).unwrap();
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        let mut lines = found.lines().zip(expected.lines());
        if found != expected {
            let first = lines.find(|(found, expected)| found != expected);
            faults.push(format!("{}: the first of the changes: {first:?}", golden.display()));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The document's name, and a line for each finding.
fn findings(document: &Document) -> String {
    let source = Source { name: "".into(), text: document.text.as_str().into() };
    let hosts = Hosts::document(&source);
    let (offline, node) = (lines(&nmgen::diagnose(&hosts)), lines(&nmgen::check(&hosts)));
    let mut text = format!("{}\n", document.name);
    for line in &offline {
        let place = if node.contains(line) { "both" } else { "offline" };
        writeln!(text, "  {place} {line}").unwrap();
    }
    for line in node.iter().filter(|line| !offline.contains(line)) {
        writeln!(text, "  node {line}").unwrap();
    }
    text
}

fn lines(found: &Diagnostics) -> Vec<String> {
    let line = |diagnostic: &nmgen::diagnostic::Diagnostic| {
        let help = diagnostic.help.as_deref().unwrap_or_default();
        format!("{}{}: {help}", diagnostic.rule.severity, diagnostic.one_line())
    };
    found.iter().map(line).collect()
}

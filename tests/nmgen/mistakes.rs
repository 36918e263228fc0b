//! The first diagnostic of a typical mistake is where the mistake is, and mostly the only one.

#![allow(clippy::print_stderr, reason = "figures, shown by --nocapture")]

use std::collections::BTreeMap;

use nmgen::Outcome;
use tests::documents::{self, Document};
use tests::mistakes::{Mistake, mistakes};

/// Mistakes of a kind in one document.
const EACH: usize = 3;

/// A diagnostic this near is at the mistake.
const NEAR: usize = 2;

#[derive(Default)]
struct Count {
    all: usize,
    near: usize,
    errors: Vec<usize>,
}

#[tests::case]
fn first_diagnostic_is_at_the_mistake() {
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    for document in documents::all() {
        let before = check(&document.name, &document.text);
        if before.has_errors() {
            continue;
        }
        for mistake in mistakes(&document.text, EACH) {
            measure(&document, &before, &mistake, counts.entry(mistake.kind).or_default());
        }
    }
    let (mut all, mut near, mut errors) = (0, 0, Vec::new());
    for (kind, count) in &mut counts {
        eprintln!(
            "{kind}: {} mistakes, {} with a first diagnostic within {NEAR} lines, median of errors {}",
            count.all,
            count.near,
            median(&mut count.errors)
        );
        all += count.all;
        near += count.near;
        errors.append(&mut count.errors);
    }
    let median = median(&mut errors);
    eprintln!(
        "all: {all} mistakes, {near} near ({} %), median of errors {median}",
        near * 100 / all
    );
    assert!(near * 100 >= all * 90, "{near} of {all}");
    assert_eq!(median, 1);
}

fn check(name: &str, text: &str) -> Outcome {
    documents::convert(name, text)
}

fn measure(document: &Document, before: &Outcome, mistake: &Mistake, count: &mut Count) {
    let same = |text: &str| serde_yaml::from_str::<serde_yaml::Value>(text).ok();
    if same(&mistake.text).is_some_and(|now| Some(now) == same(&document.text)) {
        return;
    }
    let after = check(&document.name, &mistake.text);
    // The document's own warnings move with the lines.
    let known: Vec<&str> = before.diagnostics.iter().map(|d| d.rule.name).collect();
    let first = after
        .diagnostics
        .iter()
        .find(|d| d.is_error())
        .or_else(|| after.diagnostics.iter().find(|d| !known.contains(&d.rule.name)));
    let line = first.and_then(|d| d.place.position.as_ref()).map(|at| at.start.line as usize);
    let is_near = line.is_some_and(|line| line.abs_diff(mistake.line) <= NEAR);
    if !is_near && std::env::var_os("SHOW").is_some() {
        let told = first.map(nmgen::diagnostic::Diagnostic::one_line).unwrap_or_default();
        eprintln!("{} {}:{}: {told}", mistake.kind, document.name, mistake.line);
    }
    count.all += 1;
    count.near += usize::from(is_near);
    count.errors.push(after.diagnostics.iter().filter(|d| d.is_error()).count());
}

fn median(counts: &mut [usize]) -> usize {
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied().unwrap_or_default()
}

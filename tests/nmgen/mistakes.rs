//! The first diagnostic of a typical mistake is where the mistake is, and mostly the only one.

#![allow(clippy::print_stderr, reason = "figures, shown by --nocapture")]

use std::collections::BTreeMap;
use std::{io, thread};

use nmgen::Outcome;
use tests::documents::{self, Document};
use tests::mistakes::written::{self, Account, Written};
use tests::mistakes::{Mistake, mistakes};
use tests::program;

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

/// Mistakes that people ran into: each is told first at its place, in the words that help.
#[tests::case]
fn what_people_ran_into_is_told_at_its_cause() -> io::Result<()> {
    let bad: Vec<String> = accounts(&written::table("reported.yml")?)?
        .into_iter()
        .filter(|(_, account)| !account.is_good())
        .map(|(mistake, account)| shown(mistake, &account))
        .collect();
    assert!(bad.is_empty(), "{} of them:\n{}", bad.len(), bad.join("\n"));
    Ok(())
}

#[tests::case]
fn a_mistake_is_found_at_its_place_and_told_in_few_messages() -> io::Result<()> {
    let table = written::table("mistakes.yml")?;
    let accounts = accounts(&table)?;
    let count =
        |is: fn(&Account) -> bool| accounts.iter().filter(|(_, account)| is(account)).count();
    let found = count(|account| !account.messages.is_empty());
    let placed = count(|account| account.is_at_place);
    let many = count(|account| account.messages.len() > written::MOST_MESSAGES);
    let all = accounts.len();
    eprintln!(
        "{all} mistakes: {found} found, {placed} with the first message at the mistake, {many} with more than {}",
        written::MOST_MESSAGES
    );
    let bad: Vec<String> = accounts
        .iter()
        .filter(|(_, account)| !account.is_good())
        .map(|(mistake, account)| shown(mistake, account))
        .collect();
    eprintln!("{}", bad.join("\n"));
    assert!(all >= 200, "{all}");
    assert!(placed * 100 >= all * 97, "{placed} of {all}:\n{}", bad.join("\n"));
    assert_eq!(many, 0, "{}", bad.join("\n"));
    Ok(())
}

/// Without a mistake there is nothing to tell, or the counts say nothing.
#[tests::case]
fn the_bases_of_mistakes_have_no_finding() -> io::Result<()> {
    for base in ["document.yml", "hosts", "install-config.yaml", "agent"] {
        let told = program::checked(&written::directory().join(base))?;
        assert!(told.ends_with("no errors\n"), "{told}");
    }
    Ok(())
}

/// The program's account of each, on all cores.
fn accounts(table: &[Written]) -> io::Result<Vec<(&Written, Account)>> {
    let cores = thread::available_parallelism()?.get();
    let of =
        |part: &'_ [Written]| part.iter().map(Written::account).collect::<io::Result<Vec<_>>>();
    let parts = thread::scope(|scope| {
        let parts = table.chunks(table.len().div_ceil(cores).max(1));
        let running: Vec<_> = parts.map(|part| scope.spawn(move || of(part))).collect();
        let ended = running.into_iter().map(|thread| thread.join());
        ended
            .map(|result| result.unwrap_or_else(|_| Err(io::Error::other("a panic"))))
            .collect::<io::Result<Vec<_>>>()
    })?;
    Ok(table.iter().zip(parts.into_iter().flatten()).collect())
}

fn shown(Written { file, kind, what, .. }: &Written, account: &Account) -> String {
    let place = if account.is_at_place { "" } else { ", not at its place" };
    let told = match account.messages.as_slice() {
        [] => "not found".to_owned(),
        messages => format!("{} messages{place}\n    {}", messages.len(), messages.join("\n    ")),
    };
    format!("{file}, {kind}: {what}: {told}")
}

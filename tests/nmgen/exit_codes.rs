//! Each exit code and each MESSAGE_ID of the code is documented, and no other.

use std::collections::BTreeSet;
use std::fs;

use tests::program::root;
use tests::{guide, tree};

/// Beginning of every MESSAGE_ID; two digits follow.
const PREFIX: &str = "6f0d2f6a4e0b4b7c9b3f9a1f5d6c7e";

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The program text below a directory.
fn sources(directory: &str) -> String {
    let files = tree::files(&root().join(directory)).unwrap().into_keys();
    files.map(|file| read(&format!("{directory}/{}", file.display()))).collect()
}

/// The text behind each occurrence of `mark`.
fn behind<'t>(text: &'t str, mark: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(mark).skip(1)
}

/// The rows of the tables in a text, by cell.
fn rows(text: &str) -> Vec<Vec<&str>> {
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    rows.map(|row| row.split(" | ").collect()).collect()
}

/// The exit codes in the first column of the tables in a text; of rows with something in this column.
fn documented(text: &str, column: usize) -> BTreeSet<u8> {
    let told = |row: Vec<&str>| (row[column] != "none").then(|| row[0].parse().ok()).flatten();
    rows(text).into_iter().filter_map(told).collect()
}

#[tests::case]
fn every_message_id_is_in_the_catalog_and_in_the_runbook() {
    let source = sources("agent/src");
    let ids: BTreeSet<&str> = behind(&source, PREFIX).map(|rest| &rest[..2]).collect();
    assert!(ids.len() > 15, "{ids:?}");
    let catalog = read("systemd/usr/lib/systemd/catalog/dayone.catalog");
    let entries = catalog.lines().filter_map(|line| line.strip_prefix("-- "));
    let explained: BTreeSet<&str> = entries.map(|id| id.strip_prefix(PREFIX).unwrap()).collect();
    assert_eq!(ids, explained, "the code's, and the catalog's");
    let runbook = read("agent/doc/runbook.md");
    let journal = guide::section(&runbook, "The journal");
    assert!(journal.contains(&format!("`{PREFIX}`")));
    let rows = rows(journal);
    let listed = rows.iter().filter_map(|row| row[0].strip_prefix('`')?.strip_suffix('`'));
    assert_eq!(ids, listed.collect(), "the code's, and the runbook's");
    // Each with what to do.
    assert!(rows.iter().all(|row| row.len() == 3 && row.iter().all(|cell| !cell.is_empty())));
}

#[tests::case]
fn every_exit_code_is_in_the_guide_and_in_the_runbook() {
    let error = read("agent/src/error.rs");
    let (_, exits) = error.split_once("enum Exit {").unwrap();
    let (exits, _) = exits.split_once("\n}").unwrap();
    let number = |rest: &str| rest.split_once(',')?.0.parse().ok();
    let dayone: BTreeSet<u8> = behind(exits, " = ").filter_map(number).collect();
    assert!(dayone.len() > 3, "{dayone:?}");

    let source = sources("nmgen/src") + &sources("nmgen/boot/src");
    let number = |rest: &str| rest.split_once(')').unwrap().0.parse().ok();
    let given: BTreeSet<Option<u8>> = behind(&source, "ExitCode::from(").map(number).collect();
    assert!(!given.contains(&None), "an exit code that is no number");
    let nmgen: BTreeSet<u8> = given.into_iter().flatten().chain([0]).collect();

    let guide = read("nmgen/doc/guides/exit-codes.md");
    assert_eq!(documented(&guide, 1), nmgen, "nmgen's");
    assert_eq!(documented(&guide, 2), dayone, "dayone's");
    let runbook = read("agent/doc/runbook.md");
    assert_eq!(documented(guide::section(&runbook, "The exit codes"), 1), dayone);
}

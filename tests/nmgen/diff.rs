//! `nmgen diff`: the changes of each host, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

use tests::program;

fn diff(old: &str, new: &str) -> String {
    let fixtures = program::root().join("tests/fixtures/diff");
    let output = Command::new(program::nmgen())
        .args(["diff", old, new])
        .current_dir(fixtures)
        .output()
        .unwrap();
    assert!(output.status.success());
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn each_change_is_told_by_host_and_field_and_order_means_nothing() {
    let expected =
        std::fs::read_to_string(program::root().join("tests/fixtures/diff/expected.txt"));
    assert_eq!(diff("old", "new"), expected.unwrap());
}

#[test]
fn the_same_is_no_difference() {
    assert_eq!(diff("old", "old"), "");
}

//! The documentation of the checks: it has every rule, and its examples do what it says of them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::process::{Command, Output};

use tests::examples::{Example, Section, sections};
use tests::program;

fn documented() -> Vec<Section> {
    sections(&program::root().join("nmgen/doc/checks.md"))
}

#[test]
fn every_rule_has_one_section_with_its_severity_and_every_section_a_rule() {
    let mut rules: Vec<(String, String)> = nmgen::rules()
        .iter()
        .map(|rule| (rule.name.to_owned(), rule.severity.to_string()))
        .collect();
    let mut sections: Vec<(String, String)> = documented()
        .into_iter()
        .map(|section| (section.rule, section.severity.to_lowercase()))
        .collect();
    rules.sort();
    sections.sort();
    assert_eq!(sections, rules);
}

#[test]
fn every_example_does_what_the_documentation_says() {
    let mut faults = Vec::new();
    for section in documented() {
        for word in ["bad", "good"] {
            if !section.examples.iter().any(|example| example.is(word)) {
                faults.push(format!("{} has no {word} example", section.rule));
            }
        }
        for example in &section.examples {
            faults.extend(fault(&section, example));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}

fn fault(section: &Section, example: &Example) -> Option<String> {
    let output = run(example);
    let stderr = String::from_utf8(output.stderr).unwrap();
    let found = stderr.contains(&format!("{}[{}]", section.severity.to_lowercase(), section.rule));
    let has_errors = stderr.lines().any(|line| line.starts_with("error"));
    let expected = if has_errors { 2 } else { 0 };
    let is_right = match (example.is("bad"), example.is("good")) {
        (true, false) => found,
        (false, true) => !stderr.contains(&format!("[{}]", section.rule)) && !has_errors,
        _ => false,
    };
    (!is_right || output.status.code() != Some(expected)).then(|| {
        let (rule, info, code) = (&section.rule, example.info.join(" "), output.status.code());
        format!("{rule}, {info}: exit code {code:?}, and\n{stderr}")
    })
}

fn run(example: &Example) -> Output {
    let place = tempfile::tempdir().unwrap();
    let here = place.path();
    let mut command = if example.is("sh") {
        let mut command = Command::new("sh");
        command.args(["-c", &example.text]).env("PATH", search_path());
        command
    } else {
        let mut command = Command::new(program::nmgen());
        command.args(["check", write(here, example)]);
        command
    };
    command.current_dir(here).output().unwrap()
}

/// Writes the example's files; what to check is returned.
fn write(here: &Path, example: &Example) -> &'static str {
    if !example.is("directory") {
        std::fs::write(here.join("worker-0.yml"), &example.text).unwrap();
        return "worker-0.yml";
    }
    std::fs::create_dir(here.join("hosts")).unwrap();
    for (name, text) in example.files() {
        std::fs::write(here.join("hosts").join(name), text).unwrap();
    }
    "hosts"
}

fn search_path() -> std::ffi::OsString {
    let own = program::nmgen().parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).unwrap()
}

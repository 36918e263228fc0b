//! The documentation of the checks: it has every rule, and its examples give the documented result.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use nmgen::source::{Hosts, Source};
use tests::examples::{Example, Section, sections};
use tests::program::{self, Exits as _};

fn documented() -> Vec<Section> {
    sections(&program::root().join("nmgen/doc/checks.md"))
}

#[tests::case]
fn every_rule_has_one_section_with_its_severity_and_every_section_a_rule() {
    let mut undocumented: BTreeMap<String, String> = nmgen::rules()
        .iter()
        .map(|rule| (rule.name.to_owned(), rule.severity.to_string()))
        .collect();
    let mut faults = Vec::new();
    for Section { rule, severity, .. } in documented() {
        match undocumented.remove(&rule) {
            None => faults.push(format!("{rule}: a second section, or one of no rule")),
            Some(own) if own != severity.to_lowercase() => {
                faults.push(format!("{rule}: {own}, and its section says {severity}"));
            }
            Some(_) => {}
        }
    }
    faults.extend(undocumented.keys().map(|rule| format!("{rule}: no section")));
    assert!(faults.is_empty(), "nmgen/doc/checks.md: {}", faults.join("; "));
}

#[tests::case]
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
    let stderr = output.err();
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

/// Documents that may be right on a node, whatever is missing offline.
const FOR_A_NODE: &[&str] = &[
    "routes: {config: [{destination: 192.0.2.0/24, next-hop-interface: eth9}]}",
    "routes: {config: [{state: absent, next-hop-interface: eth9}]}",
    "dns-resolver: {config: {server: [192.0.2.53], search: [example.com]}}",
    "interfaces: [{name: bond0, type: bond, link-aggregation: {options: {arp_ip_target: 192.0.2.1}}}]",
    "interfaces: [{name: ovs0, type: ovs-interface}]",
    "interfaces: [{name: eth0.5, type: vlan}]",
    "interfaces: [{name: eth0, description: \"two\\nlines\"}]",
    "interfaces: [{name: eth0, ipv4: {address: [{ip: 192.0.2.1, prefix-length: 24}]}}]",
    "interfaces: [{name: eth0, profile-name: a}, {name: eth1, profile-name: a}]",
];

#[tests::case]
fn on_a_node_nothing_is_refused_that_may_be_right_there() {
    for text in FOR_A_NODE {
        let found = nmgen::check(&hosts(text));
        assert!(!found.iter().any(|diagnostic| diagnostic.is_error()), "{text}: {found:?}");
    }
}

/// Values that are wrong almost everywhere.
const ODD: &[&str] =
    &["[]", "{}", "~", "-1", "99999999999999999999", "'%'", "[[x]]", "{a: {b: c}}"];

#[tests::case]
fn no_shape_of_a_document_makes_a_rule_panic() {
    let sections = documented();
    let examples = sections.iter().flat_map(|section| &section.examples);
    let mut odd = ODD.iter().cycle();
    let mut documents = 0;
    for example in examples.filter(|example| example.is("yaml") && example.is("bad")) {
        let lines: Vec<&str> = example.text.lines().collect();
        for (index, line) in lines.iter().enumerate() {
            let Some((key, _)) = line.split_once(':') else { continue };
            let changed = format!("{key}: {}", odd.next().unwrap());
            let mut lines = lines.clone();
            lines[index] = &changed;
            drop(nmgen::check(&hosts(&lines.join("\n"))));
            documents += 1;
        }
    }
    assert!(documents > 500, "{documents}");
}

/// Documents with several faults, of which nmstate tells any.
const SEVERAL_FAULTS: [&str; 4] = [
    // Interfaces without a type, each declared twice.
    "interfaces:
- {name: eth0, 3tate: uplink}
- {name: eth1, 4tate: up, state: up}
- {name: eth0, ty4e: ethernet, 3tate: uplink}
- {name: eth1, e-name: uplink}
",
    // Each bond by itself.
    "interfaces:
- {name: bond1, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth1], ports-config: [{name: eth3}]}}
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth0], ports-config: [{name: eth2}]}}
",
    // Bonds that name each other.
    "interfaces:
- {name: bond1, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth1], ports-config: [{name: bond0}]}}
- {name: bond0, type: bond, state: up, link-aggregation: {mode: active-backup, port: [eth0], ports-config: [{name: bond1}]}}
",
    // The ports of one bond that are in one of two lists.
    "interfaces:
- name: bond0
  type: bond
  state: up
  link-aggregation:
    mode: active-backup
    port: [eth0, eth1, eth2, eth3]
    ports-config: [{name: eth4}, {name: eth5}, {name: eth6}]
",
];

#[tests::case]
fn the_same_document_has_the_same_findings_in_each_run() {
    for text in SEVERAL_FAULTS {
        let first = nmgen::convert(hosts(text)).diagnostics;
        assert!(first.has_errors(), "{text}");
        for _ in 0..24 {
            assert_eq!(nmgen::convert(hosts(text)).diagnostics, first, "{text}");
        }
    }
}

fn hosts(text: &str) -> Hosts {
    let source = Source { name: "a.yml".into(), text: text.into() };
    Hosts::document(&source)
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
        // `check` does not tell what is wrong in a pipeline alone.
        match example.is("generate") {
            true => command.args(["generate", "-o", "OUT"]),
            false => command.arg("check"),
        };
        command.args(write(here, example));
        command
    };
    command.current_dir(here).output().unwrap()
}

/// Writes the example's files; the sources to check are returned.
fn write(here: &Path, example: &Example) -> Vec<String> {
    if !example.is("directory") && !example.is("files") {
        std::fs::write(here.join("worker-0.yml"), &example.text).unwrap();
        return vec!["worker-0.yml".to_owned()];
    }
    let base = if example.is("directory") { here.join("hosts") } else { here.to_owned() };
    for (name, text) in example.files() {
        let path = base.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let entries = std::fs::read_dir(here).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn search_path() -> std::ffi::OsString {
    let own = program::nmgen().parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([own].into_iter().chain(std::env::split_paths(&path))).unwrap()
}

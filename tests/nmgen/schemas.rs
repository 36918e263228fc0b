//! The JSON of each command has the form that the documentation's schema gives, and no other field.

use std::fs;

use serde_json::Value;
use tests::{
    program::{self, Exits as _},
    schema,
};

/// Runs a command in the fixtures, and validates its output.
fn output(name: &str, arguments: &[&str]) -> (Value, Option<i32>) {
    let call = [&[name, "--format", "json"], arguments].concat();
    let output = program::nmgen_in(program::fixtures(), &call);
    let value = output.json();
    let faults = schema::faults(&schema::of(&format!("nmgen/doc/{name}")), &value);
    assert!(faults.is_empty(), "{arguments:?}: {faults:?}");
    (value, output.status.code())
}

#[tests::case]
fn findings_are_what_the_schema_says() {
    let bad = program::root().join("tests/fixtures/bad-input");
    let mut findings = 0;
    for entry in fs::read_dir(bad).unwrap() {
        let case = entry.unwrap().path();
        let mut files: Vec<String> = fs::read_dir(&case)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
            })
            .map(|path| path.display().to_string())
            .collect();
        files.sort();
        if files.is_empty() {
            continue;
        }
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let (value, _) = output("check", &files);
        findings += value["findings"].as_array().unwrap().len();
    }
    assert!(findings > 100, "{findings}");
}

#[tests::case]
fn a_source_that_cannot_be_read_is_told_on_standard_output_too() {
    let (value, code) = output("check", &["no-such-file.yml"]);
    assert_eq!(code, Some(1));
    assert!(value["error"].as_str().unwrap().contains("no-such-file.yml"), "{value}");
    for form in ["sarif", "github"] {
        let call = ["check", "--format", form, "no-such-file.yml"];
        program::nmgen_in(".", &call).says("no-such-file.yml");
    }
}

#[tests::case]
fn differences_are_what_the_schema_says() {
    let (value, _) = output("diff", &["diff/old", "diff/new"]);
    let kinds: Vec<&str> = value["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["change"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["changed", "removed", "changed", "added"]);
    let change = &value["changes"][0]["differences"][2];
    assert_eq!(change["field"], "interfaces[bond0.100].vlan.id");
    assert_eq!((&change["before"], &change["after"]), (&100.into(), &101.into()));
    let (value, _) = output("diff", &["sources/hosts", "sources/hosts"]);
    assert_eq!(value["changes"], Value::Array(Vec::new()));
}

#[tests::case]
fn stacks_are_what_the_schema_says() {
    let (value, code) = output("show", &["--br-ex", "../../examples/cluster/install-config.yaml"]);
    assert_eq!(code, Some(0));
    let hosts = value["hosts"].as_array().unwrap();
    assert_eq!(hosts.len(), 6, "both stages of three hosts");
    let bridge = hosts.iter().find(|host| host["stage"] == "node").unwrap();
    let interfaces = bridge["interfaces"].as_array().unwrap();
    let of = |name: &str, kind: &str| {
        interfaces
            .iter()
            .find(|interface| interface["name"] == name && interface["type"] == kind)
            .unwrap()
    };
    assert_eq!(of("br-ex", "ovs-bridge")["below"], serde_json::json!(["enp2s0", "br-ex"]));
    let details = &of("br-ex", "ovs-interface")["details"];
    assert_eq!(details, &serde_json::json!(["192.0.2.10/24", "default via 192.0.2.1 metric 48"]));
    assert_eq!(bridge["other"], serde_json::json!(["DNS  192.0.2.53"]));
    output("show", &["sources/hosts", "demo/bond-vlan.yml"]);
}

#[tests::case]
fn explanations_are_what_the_schema_says() {
    let (one, code) = output("explain", &["vlan-id-range"]);
    assert_eq!(code, Some(0));
    let summary = "802.1Q has ids of 12 bits and reserves 4095.";
    assert_eq!(one["rules"][0]["summary"], summary);
    let (all, _) = output("explain", &[]);
    let rules = all["rules"].as_array().unwrap();
    assert_eq!(rules.len(), nmgen::rules().len());
    for rule in rules {
        let summary = rule["summary"].as_str().unwrap();
        assert!(summary.len() > 10 && !summary.contains('\n'), "{}: {summary}", rule["name"]);
    }
}

#[tests::case]
fn every_schema_has_an_id_and_is_installed() {
    let makefile = fs::read_to_string(program::root().join("Makefile")).unwrap();
    for (program, directory, count) in [("nmgen", "nmgen/doc", 5), ("dayone", "agent/doc", 8)] {
        let mut schemas = 0;
        for entry in fs::read_dir(program::root().join(directory)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap();
            let Some(subject) = name.strip_suffix(".schema.json") else { continue };
            schemas += 1;
            let schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            // The number that the output has as `schema`.
            let version = &schema["properties"]["schema"]["const"];
            assert_eq!(schema["$id"], format!("urn:{program}:{subject}:{version}"), "{name}");
            assert!(schema["title"].is_string(), "{name}");
        }
        assert_eq!(schemas, count, "{directory}");
        assert!(makefile.contains(&format!("share/doc/{program} {directory}/*")), "{directory}");
    }
}

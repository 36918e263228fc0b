//! `packaging/alerts/`: the rules, by Prometheus's own tool, beside the units that they read.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use serde_json::Value;
use tests::{guide, program::root, skip};

fn directory() -> PathBuf {
    root().join("packaging/alerts")
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&fs::read_to_string(directory().join(name)).unwrap()).unwrap()
}

#[tests::case]
fn each_reason_has_an_alert_that_ends_with_it() {
    skip::unless_installed("promtool", "prometheus");
    for arguments in [["check", "rules", "dayone.rules.yml"], ["test", "rules", "dayone.test.yml"]]
    {
        let mut promtool = Command::new("promtool");
        let output = promtool.args(arguments).current_dir(directory()).output().unwrap();
        let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
    }
}

#[tests::case]
fn openshift_has_the_same_rules() {
    let rules = yaml("dayone.rules.yml");
    assert_eq!(yaml("prometheus-rule.yaml")["spec"], rules);
    let readme = fs::read_to_string(directory().join("README.md")).unwrap();
    let runbook = fs::read_to_string(root().join("agent/doc/runbook.md")).unwrap();
    assert!(!guide::section(&runbook, "Watching").is_empty());
    for rule in rules["groups"][0]["rules"].as_array().unwrap() {
        let Some(alert) = rule["alert"].as_str() else { continue };
        assert!(readme.contains(&format!("| `{alert}` |")), "{alert}");
        let url = rule["annotations"]["runbook_url"].as_str().unwrap();
        assert!(url.ends_with("/dayone-runbook#watching"), "{url}");
    }
}

/// The test of a reason that nobody wrote would not fail.
#[tests::case]
fn every_reason_is_tested() {
    let schema = fs::read(root().join("agent/doc/health.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let reasons = schema["properties"]["reason"]["enum"].as_array().unwrap();
    let reasons: BTreeSet<&str> = reasons.iter().filter_map(Value::as_str).collect();
    let tests = yaml("dayone.test.yml");
    let named = tests["tests"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str());
    let named: BTreeSet<&str> = named.collect();
    let untested: Vec<_> = reasons.difference(&named).collect();
    assert_eq!(untested, [&"healthy"]);
}

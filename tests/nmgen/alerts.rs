//! `packaging/alerts/`: the rules, by Prometheus's own tool, beside the units that they read.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use serde_json::Value;
use tests::{
    guide,
    program::{monitoring, root},
    skip,
};

fn directory() -> PathBuf {
    root().join("packaging/alerts")
}

/// This host's, or that of a package which is not installed, since it would start a daemon.
fn promtool() -> PathBuf {
    if Command::new("promtool").arg("--version").output().is_ok() {
        return "promtool".into();
    }
    skip::unless_installed("apt-get", "apt");
    monitoring().join("usr/bin/promtool")
}

fn yaml(name: &str) -> Value {
    serde_yaml::from_str(&fs::read_to_string(directory().join(name)).unwrap()).unwrap()
}

#[tests::case]
fn each_reason_has_an_alert_that_ends_with_it() {
    let promtool = promtool();
    for arguments in [["check", "rules", "dayone.rules.yml"], ["test", "rules", "dayone.test.yml"]]
    {
        let mut promtool = Command::new(&promtool);
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
    let summary = fs::read_to_string(root().join("doc/book/SUMMARY.md")).unwrap();
    for rule in rules["groups"][0]["rules"].as_array().unwrap() {
        let Some(alert) = rule["alert"].as_str() else { continue };
        assert!(readme.contains(&format!("| `{alert}` |")), "{alert}");
        let url = rule["annotations"]["runbook_url"].as_str().unwrap();
        let (page, heading) = match alert {
            "DayoneRolloutFails" => ("nmgen/doc/guides/waves", "Stop"),
            _ => ("agent/doc/runbook", "Watching"),
        };
        let anchor = heading.to_lowercase();
        assert_eq!(url, format!("https://runbooks.example.com/{page}.html#{anchor}"), "{alert}");
        // The page of the book that has this place.
        assert!(summary.contains(&format!("(../../{page}.md)")), "{page}");
        let text = fs::read_to_string(root().join(page).with_extension("md")).unwrap();
        assert!(!guide::section(&text, heading).is_empty(), "{page}: {heading}");
    }
}

/// The guide's command, on copies.
#[tests::case]
fn the_runbook_is_where_somebody_publishes_it() {
    let readme = fs::read_to_string(directory().join("README.md")).unwrap();
    let command = readme.lines().find(|line| line.starts_with("sed ")).unwrap();
    let copies = tempfile::tempdir().unwrap();
    for name in ["dayone.rules.yml", "prometheus-rule.yaml"] {
        fs::copy(directory().join(name), copies.path().join(name)).unwrap();
    }
    let status = Command::new("sh").args(["-c", command]).current_dir(copies.path()).status();
    assert!(status.unwrap().success(), "{command}");
    for name in ["dayone.rules.yml", "prometheus-rule.yaml"] {
        let text = fs::read_to_string(copies.path().join(name)).unwrap();
        assert!(!text.contains("runbooks.example.com"), "{name}");
        assert!(text.contains("https://docs.example.org/network/agent/doc/runbook.html#watching"));
    }
}

/// The test of a reason that nobody wrote would not fail.
#[tests::case]
fn every_reason_is_tested() {
    let schema = tests::schema::of("agent/doc/health");
    let reasons = schema["properties"]["reason"]["enum"].as_array().unwrap();
    let reasons: BTreeSet<&str> = reasons.iter().filter_map(Value::as_str).collect();
    let tests = yaml("dayone.test.yml");
    let named = tests["tests"].as_array().unwrap().iter().filter_map(|test| test["name"].as_str());
    let named: BTreeSet<&str> = named.collect();
    let untested: Vec<_> = reasons.difference(&named).collect();
    assert_eq!(untested, [&"healthy"]);
}

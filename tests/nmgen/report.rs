//! `nmgen report`: a must-gather's tree, a stream, a fleet of ten thousand.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::{fs, time::Instant};

use serde_json::{Value, json};
use tests::{
    program::{self, Exits as _},
    schema,
};

/// `dayone status --json` of a node.
fn status(name: &str, verdict: &str, more: &Value) -> Value {
    let mut status = json!({
        "schema": 1, "outcome": "unchanged", "hostname": name, "reason": "", "warnings": [], "phases": [], "probes-before": [],
        "probes-after": [], "started": 1, "verdict": verdict, "verdict-reason": null, "drift": [], "in-force": true,
        "document": "/etc/nmstate/openshift/cluster.yml", "digest": "a".repeat(64), "pending": null, "error": null,
    });
    status.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    status
}

/// `dayone collect` of it, as far as a report looks.
fn collected(name: &str, role: &str, status: &Value) -> Value {
    json!({
        "schema": 1, "hostname": name, "collected": 5, "milliseconds": 9, "role": role, "versions": {"dayone": "0.2.0"},
        "status": {"value": status}, "cards": [], "facts": {"links": {"error": "x"}}, "journals": {}, "files": [], "left-out": [],
    })
}

fn report(directory: &Path, arguments: &[&str]) -> Output {
    program::nmgen_in(directory, &[&["report"], arguments].concat())
}

fn rolled_back(gateway: &str) -> Value {
    let error = format!("probe: gateway {gateway} did not answer within 30 s");
    json!({"verdict-reason": "rolled-back", "outcome": "rolled-back", "error": error})
}

#[tests::case]
fn a_must_gather_is_one_table_with_who_is_late_and_who_fails_alike() {
    let place = tempfile::tempdir().unwrap();
    let directory = place.path().join("must-gather/dayone");
    fs::create_dir_all(&directory).unwrap();
    fs::write(place.path().join("must-gather/version.json"), "{\"status\": \"other\"}").unwrap();
    fs::write(place.path().join("must-gather/event-filter.html"), "<html>").unwrap();
    let put = |name: &str, value: &Value| {
        fs::write(directory.join(format!("{name}.json")), value.to_string()).unwrap();
    };
    put("w-0", &collected("w-0", "worker", &status("w-0", "IN FORCE", &json!({}))));
    put("w-1", &collected("w-1", "worker", &status("w-1", "IN FORCE", &json!({}))));
    let old = json!({"digest": "b".repeat(64)});
    put("w-2", &collected("w-2", "worker", &status("w-2", "IN FORCE", &old)));
    put("w-3", &collected("w-3", "worker", &status("w-3", "FELL BACK", &rolled_back("192.0.2.1"))));
    put("w-4", &collected("w-4", "worker", &status("w-4", "FELL BACK", &rolled_back("192.0.2.9"))));
    let pending = json!({"pending": "c".repeat(64)});
    put("m-0", &collected("m-0", "master", &status("m-0", "PENDING", &pending)));
    let gzip = Command::new("gzip").arg(directory.join("m-0.json")).status().unwrap();
    assert!(gzip.success());

    let output = report(place.path(), &["must-gather"]).exits(3);
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "\
OUTCOME    REASON       NODES
FELL BACK  rolled-back  2      w-3 w-4
PENDING                 1      m-0
IN FORCE                3

alike:
  2  probe: gateway … did not answer within … s
      w-3 w-4

late:
  m-0  a changed document waits for the next boot
  w-2  /etc/nmstate/openshift/cluster.yml is bbbbbbbbbbbb, not aaaaaaaaaaaa as on 4 nodes

ROLE    DOCUMENT                            DIGEST        NODES
master  /etc/nmstate/openshift/cluster.yml  aaaaaaaaaaaa  1
worker  /etc/nmstate/openshift/cluster.yml  aaaaaaaaaaaa  4
worker  /etc/nmstate/openshift/cluster.yml  bbbbbbbbbbbb  1
";
    assert_eq!(text, expected);
    let notes = String::from_utf8(output.stderr).unwrap();
    assert_eq!(notes, "1 file of another kind was passed over\n");

    let value = report(place.path(), &["--format", "json", "must-gather"]).json();
    schema::fits("nmgen/doc/report", &value);
    assert_eq!(value["groups"][0]["nodes"], json!(["w-3", "w-4"]));
    assert_eq!((&value["good"], &value["nodes"][0]["name"]), (&json!(false), &json!("m-0")));
}

/// Accounts of `dayone status`: its verdict, the reason, the field that has the cause, and whether its exit code is 0.
const VERDICTS: [(&str, &str, &str, bool); 29] = [
    ("IN FORCE", "", "", true),
    ("IN FORCE", "family-missing", "", true),
    ("IN FORCE", "change-adopted", "", true),
    ("IN FORCE", "other-nodes-documents", "", true),
    ("IN FORCE", "gateway-silent", "silent", false),
    ("IN FORCE", "disabled", "units", false),
    ("IN FORCE", "mtu-migration", "", false),
    ("IN FORCE", "unproved", "", false),
    ("NO DOCUMENT", "", "", true),
    ("NO DOCUMENT", "other-nodes-documents", "", true),
    ("WAITING", "held-on-purpose", "error", false),
    ("WAITING", "at-work", "", false),
    ("FELL BACK", "rolled-back", "error", false),
    ("FELL BACK", "given-up", "error", false),
    ("PENDING", "document-changed", "", false),
    ("REFUSED", "document-refused", "refused", false),
    ("DRIFTED", "network-differs", "drift", false),
    ("DRIFTED", "saved-profile-differs", "saved", false),
    ("REMOVED", "document-gone", "removed", false),
    ("RUNNING", "at-work", "", false),
    ("INTERRUPTED", "interrupted", "", false),
    ("NOT RECORDED", "not-recorded", "error", false),
    ("NOT RUN", "not-run", "", false),
    ("NOT IN FORCE", "failed", "error", false),
    ("NOT IN FORCE", "roll-back-failed", "error", false),
    ("NOT IN FORCE", "open-vswitch-down", "down", false),
    ("COMMITTED", "networkmanager-down", "down", false),
    ("COMMITTED", "unreadable", "drift-unknown", false),
    ("TRIAL", "on-trial", "", false),
];

#[tests::case]
fn every_verdict_of_the_agent_is_known_with_its_cause() {
    let schema = schema::of("agent/doc/status");
    let words = |field: &str| -> BTreeSet<String> {
        let all = schema["properties"][field]["enum"].as_array().unwrap();
        all.iter().map(|word| word.as_str().unwrap_or_default().to_owned()).collect()
    };
    let named = |of: fn(&(&str, &str, &str, bool)) -> String| -> BTreeSet<String> {
        VERDICTS.iter().map(of).collect()
    };
    assert_eq!(named(|row| row.0.to_owned()), words("verdict"));
    let reasons = &words("verdict-reason") - &named(|row| row.1.to_owned());
    // A service like the two others.
    assert_eq!(reasons, ["dbus-down".to_owned()].into());

    let place = tempfile::tempdir().unwrap();
    for (verdict, reason, field, is_good) in VERDICTS {
        let mut more = json!({"verdict-reason": (!reason.is_empty()).then_some(reason)});
        if !field.is_empty() {
            let is_list = schema["properties"][field]["type"] == json!("array");
            more[field] = if is_list { json!(["the cause"]) } else { json!("the cause") };
        }
        let text = status("w-0", verdict, &more).to_string();
        fs::write(place.path().join("w-0.json"), text).unwrap();
        let output = report(place.path(), &["--format", "json", "w-0.json"]);
        let code = if is_good { 0 } else { 3 };
        assert_eq!(output.status.code(), Some(code), "{verdict} {reason}: {output:?}");
        let value = output.json();
        let why = value["nodes"][0]["why"].as_str().unwrap();
        let expected = if field.is_empty() { "" } else { "the cause" };
        assert!(why.starts_with(expected) && why.is_empty() == expected.is_empty(), "{value}");
    }
}

#[tests::case]
fn a_stream_has_an_exit_code_for_a_pipeline() {
    let place = tempfile::tempdir().unwrap();
    let streamed = |input: &str| {
        let mut nmgen = Command::new(program::nmgen());
        program::with_input(nmgen.args(["report", "-"]), input).unwrap().status.code()
    };
    let good = status("w-0", "IN FORCE", &json!({})).to_string();
    let bad = status("w-1", "DRIFTED", &json!({"drift": ["br-ex"]})).to_string();
    assert_eq!(streamed(&good), Some(0));
    assert_eq!(streamed(&format!("{good}\n{bad}\n")), Some(3));
    assert_eq!(streamed(&format!("{good}{{\"a\": 1}}")), Some(2));
    assert_eq!(streamed(""), Some(2));
    let unhealthy = json!({
        "schema": 1, "failed": true, "reason": "fell-back", "verdict": "FELL BACK", "line": "", "why": "x", "document": null,
        "digest": null, "since": 1, "looked": 1, "patience": "none", "picture": "",
    });
    fs::write(place.path().join("w-7.json"), unhealthy.to_string()).unwrap();
    report(place.path(), &["w-7.json"]).exits(3).says("FELL BACK  fell-back  1      w-7\n");
    report(place.path(), &["nowhere.json"]).exits(1);
    fs::write(place.path().join("other.json"), "{}").unwrap();
    let output = report(place.path(), &["w-7.json", "other.json"]).exits(2);
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(told, "nmgen: other.json: it is no account of a node\n");
}

#[tests::case]
fn accounts_of_one_name_hide_no_node() {
    let place = tempfile::tempdir().unwrap();
    let put = |file: &str, value: &Value| {
        let path = place.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    let names = |sources: &[&str], code: i32| -> Vec<String> {
        let value =
            report(place.path(), &[&["--format", "json"], sources].concat()).exits(code).json();
        let nodes = value["nodes"].as_array().unwrap();
        nodes.iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
    };
    let good = collected("w-0", "worker", &status("w-0", "IN FORCE", &json!({})));
    let bad = collected("w-0", "worker", &status("w-0", "FELL BACK", &rolled_back("192.0.2.1")));
    // Two clusters.
    put("one/w-0.json", &bad);
    put("two/w-0.json", &good);
    let both = ["w-0 (one/w-0.json)", "w-0 (two/w-0.json)"];
    assert_eq!(names(&["one", "two"], 3), both);
    assert_eq!(names(&["two", "one"], 3), [both[1], both[0]]);
    // One node, collected twice.
    let mut later = good.clone();
    later["collected"] = json!(6);
    put("one/w-0-again.json", &later);
    assert_eq!(names(&["one"], 0), ["w-0"]);
    // A node's health of an agent that tells no name.
    let health = |failed: bool| {
        json!({
            "schema": 1, "failed": failed, "reason": "fell-back", "verdict": "FELL BACK", "line": "", "why": "x", "document": null,
            "digest": null, "since": 1, "looked": 1, "patience": "none", "picture": "",
        })
    };
    put("a/health.json", &health(true));
    put("b/health.json", &health(false));
    assert_eq!(names(&["a", "b"], 3), ["health (a/health.json)", "health (b/health.json)"]);
    let mut named = health(true);
    named["hostname"] = json!("w-3");
    put("c/health.json", &named);
    assert_eq!(names(&["c"], 3), ["w-3"]);
    let stream = format!("{}\n{}\n", health(true), health(false));
    fs::write(place.path().join("stream.json"), stream).unwrap();
    assert_eq!(names(&["stream.json"], 3), ["stream (stream.json, 1)", "stream (stream.json, 2)"]);
}

#[tests::case]
fn ten_thousand_nodes_are_read_at_once() {
    let place = tempfile::tempdir().unwrap();
    for index in 0..10_000 {
        let name = format!("w-{index}");
        let verdict = if index % 100 == 7 { "FELL BACK" } else { "IN FORCE" };
        let more = if index % 100 == 7 { rolled_back("192.0.2.1") } else { json!({}) };
        let text = status(&name, verdict, &more).to_string();
        fs::write(place.path().join(format!("{name}.json")), text).unwrap();
    }
    let start = Instant::now();
    let output = report(place.path(), &["."]);
    // A debug build on a busy machine; a release takes a part of a second.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    let text = output.out();
    assert!(
        text.contains("FELL BACK  rolled-back  100    w-1007 w-107 w-1107 w-1207 and 96 more\n"),
        "{text}"
    );
    assert!(text.contains("  100  probe: gateway … did not answer within … s\n"), "{text}");
}

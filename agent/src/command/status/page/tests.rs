//! Whole pages.

use super::{super::verdict::assess, *};
use crate::{
    command::status::report::StatusReport,
    document::{Chosen, Document, digest::Digest, unmatched::Unmatched},
    durable::record::{Failures, Record},
    status::{Fault, Status, Success, phase::Phase, trial::Trial},
};

fn done(phase: Phase, ok: bool, milliseconds: f64) -> Done {
    Done { phase, ok, milliseconds }
}

fn probe(name: &str, ok: bool, detail: &str) -> ProbeResult {
    let (name, detail) = (name.to_owned(), detail.to_owned());
    ProbeResult {
        name,
        ok,
        detail,
        warning: None,
        link: None,
        milliseconds: if ok { 2 } else { 3000 },
    }
}

fn worker() -> Chosen {
    let document = Document {
        path: "/etc/nmstate/openshift/worker-0.yml".into(),
        text: String::new(),
        digest: Digest::of(b""),
        mode: 0o644,
    };
    Chosen {
        document: Some(document),
        reason: "host file for short hostname worker-0".to_owned(),
        warnings: Vec::new(),
        hostname: "worker-0".to_owned(),
        unmatched: None,
    }
}

fn report(boot: Status, in_force: bool) -> StatusReport {
    StatusReport { boot, in_force, ..StatusReport::default() }
}

fn shown(report: StatusReport, chosen: Chosen, record: Record) -> String {
    let node = NodeStatus { report, chosen, record, at_work: None };
    page(&assess(&node), &node, false)
}

const ROLLED_BACK: &str = "\
NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml
probing the new network failed; rolled back: probe gateway 192.0.2.254 failed:
no answer from 192.0.2.254
Next: correct the document or what did not answer (`dayone probe` asks the
wire), then `dayone apply`; see dayone-runbook(7); the next attempt is in 5 s

  document: /etc/nmstate/openshift/worker-0.yml
    digest: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    chosen: host file for short hostname worker-0
 this boot: failed and rolled back
    phases: select 0.2 ms > ready 1.0 ms (2 times) > apply 1.9 s > probe 3.0 s
            FAILED > roll-back 812 ms
    probes: probe                before      after
            gateway 192.0.2.254  no answer   no answer
              no answer from 192.0.2.254
            dns                  ok 2.0 ms   not asked
  failures: 1 of document e3b0c44298fc
  in force: no
";

fn rolled_back() -> Status {
    let error = "probing the new network failed; rolled back: probe gateway 192.0.2.254 failed: no \
                 answer from 192.0.2.254";
    let silent = probe("gateway 192.0.2.254", false, "no answer from 192.0.2.254");
    Status {
        outcome: Outcome::Failed(Fault::RolledBack),
        exit: Some(3),
        error: Some(error.to_owned()),
        next: Some("the next attempt is in 5 s".to_owned()),
        phases: vec![
            done(Phase::Select, true, 0.2),
            done(Phase::Ready, true, 0.7),
            done(Phase::Ready, true, 0.3),
            done(Phase::Apply, true, 1870.0),
            done(Phase::Probe, false, 3004.0),
            done(Phase::RollBack, true, 812.4),
        ],
        probes_before: vec![silent.clone(), probe("dns", true, "192.0.2.1 answered")],
        probes_after: vec![silent],
        ..Status::default()
    }
}

#[test]
fn a_failure_is_told_from_verdict_to_details_in_80_columns() {
    let (digest, last_error) = (Digest::of(b""), String::new());
    let failures = Failures { digest, count: 1, last_error, boot_id: String::new(), cut_off: 0 };
    let record = Record { failures: Some(failures), ..Record::default() };
    let text = shown(report(rolled_back(), false), worker(), record);
    assert_eq!(text, ROLLED_BACK);
    assert!(text.lines().all(|line| line.chars().count() <= 80));
}

#[test]
fn failures_are_shown_of_this_document_while_it_is_not_in_force() {
    let of = |text: &[u8]| {
        let (digest, last_error) = (Digest::of(text), String::new());
        let failures =
            Failures { digest, count: 3, last_error, boot_id: String::new(), cut_off: 0 };
        Record { failures: Some(failures), ..Record::default() }
    };
    let good = Status { outcome: Outcome::Succeeded(Success::Unchanged), ..Status::default() };
    for (record, boot, in_force, is_shown) in [
        (of(b""), rolled_back(), false, true),
        // It is in force and its network is away.
        (of(b""), rolled_back(), true, true),
        // The record could not be written since.
        (of(b""), good.clone(), true, false),
        (of(b"another"), good, true, false),
        (of(b"another"), rolled_back(), false, false),
    ] {
        let text = shown(report(boot, in_force), worker(), record);
        assert_eq!(text.contains(" failures: 3 of "), is_shown, "{text}");
    }
}

#[test]
fn colour_changes_no_character_and_no_width() {
    let (report, record) = (report(rolled_back(), false), Record::default());
    let node = NodeStatus { report, chosen: worker(), record, at_work: None };
    let assessment = assess(&node);
    let (plain, coloured) = (page(&assessment, &node, false), page(&assessment, &node, true));
    assert!(coloured.starts_with("\x1b[1;31mNOT IN FORCE"), "{coloured}");
    assert!(coloured.contains("\x1b[1;31mFAILED\x1b[0m > roll-back"), "{coloured}");
    assert_eq!(coloured.replace("\x1b[1;31m", "").replace("\x1b[0m", ""), plain);
}

#[test]
fn files_of_other_nodes_are_named_beside_the_names_that_were_tried() {
    let file = |n: usize| format!("worker-{n}.yml");
    let unmatched = Unmatched {
        tried: vec![file(9), "cluster.yml".to_owned()],
        files: (0..5).map(file).collect(),
    };
    let chosen = Chosen {
        document: None,
        reason: "no document for this node".to_owned(),
        warnings: vec![unmatched.to_string()],
        unmatched: Some(unmatched),
        ..worker()
    };
    let boot = Status {
        outcome: Outcome::Succeeded(Success::Nothing),
        warnings: chosen.warnings.clone(),
        ..Status::default()
    };
    let text = shown(report(boot, true), chosen, Record::default());
    let expected = "\
NO DOCUMENT: files of other nodes only (5)
no file is this node's: it looks for worker-9.yml, cluster.yml; there are
worker-0.yml, worker-1.yml, worker-2.yml, worker-3.yml, worker-4.yml
Next: if one is meant for this node, give it one of these names, then `dayone
apply`

  document: none
    chosen: no document for this node
 this boot: nothing to do
  in force: there is nothing to be in force
";
    assert_eq!(text, expected);
}

#[test]
fn a_node_without_a_document_has_each_fact_once_and_a_next_step() {
    let reason = "no document for this node".to_owned();
    let chosen = Chosen { document: None, reason, ..worker() };
    let boot = Status { outcome: Outcome::Succeeded(Success::Nothing), ..Status::default() };
    let expected = "\
NO DOCUMENT: nothing to do
no document for this node
Next: a document of this node goes to /etc/nmstate/openshift; `dayone export`
writes one of the network that is there

  document: none
 this boot: nothing to do
  in force: there is nothing to be in force
";
    assert_eq!(shown(report(boot, true), chosen, Record::default()), expected);
}

fn tried(state: TrialState) -> TrialReport {
    let digest = Digest::of(b"");
    let trial = Trial { state, ..Trial::new("/root/new.yml".into(), digest, 60) };
    TrialReport { trial, left: (state == TrialState::Waiting).then_some(42) }
}

#[test]
fn a_trial_shows_the_time_left_and_the_command_that_keeps_it() {
    let boot = Status { outcome: Outcome::Succeeded(Success::Committed), ..Status::default() };
    let report = StatusReport { trial: Some(tried(TrialState::Waiting)), ..report(boot, true) };
    let at_work = Some("dayone trial (process 1)".to_owned());
    let node = NodeStatus { report, chosen: worker(), record: Record::default(), at_work };
    let expected = "\
TRIAL: /root/new.yml; 42 s left
it is applied, and the old network returns by itself unless it is confirmed
Next: `dayone confirm` keeps it until the next boot, `systemctl stop
dayone-trial.service` ends it now

  document: /etc/nmstate/openshift/worker-0.yml
    digest: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
    chosen: host file for short hostname worker-0
 this boot: applied and committed
     trial: /root/new.yml, 42 s left
  in force: yes
";
    assert_eq!(page(&assess(&node), &node, false), expected);
}

/// A collected node may be anybody's.
#[test]
fn a_word_of_any_length_ends_no_page() {
    let long = "x".repeat(usize::from(u16::MAX) + 1);
    let boot = Status { probes_after: vec![probe(&long, false, &long)], ..rolled_back() };
    let text = shown(report(boot, false), worker(), Record::default());
    assert!(text.contains(&long) && text.len() < 3 * long.len(), "{}", text.len());
}

#[test]
fn no_line_is_wider_than_the_console_unless_a_word_is() {
    assert_eq!(wrapped("", 10), Vec::<String>::new());
    assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
    assert_eq!(wrapped("a\x1b[2Jb\nc", 10), ["a\u{fffd}[2Jb c"]);
    assert_eq!(wrapped("a abcdefghijkl b", 7), ["a", "abcdefghijkl", "b"]);
    let text = entry("next", &"word ".repeat(40));
    assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
    assert_eq!(text.lines().nth(1).map(|line| line.find("word")), Some(Some(12)));
}

//! Every verdict as a user sees it: the first line of the page, and whether the exit code is 0.

use super::{Seen, Tried, verdict};
use crate::{
    command::status::Report,
    document::{Chosen, Document, digest::Digest, unmatched::Unmatched},
    durable::record::{Failures, Record},
    status::{
        Bridge, Fault, Open, Outcome, Status, Success,
        phase::Phase,
        trial::{State, Trial},
    },
};

const FILE: &str = "/etc/nmstate/openshift/worker-0.yml";

fn this_nodes() -> Chosen {
    let (path, digest) = (FILE.into(), Digest::of(b""));
    Chosen {
        document: Some(Document { path, text: String::new(), digest, mode: 0o644 }),
        reason: "host file for short hostname worker-0".to_owned(),
        warnings: Vec::new(),
        hostname: "worker-0".to_owned(),
        unmatched: None,
    }
}

/// A row's situation; the rest is that of a node whose document is in force.
struct Node {
    report: Report,
    chosen: Chosen,
    record: Record,
    at_work: Option<String>,
}

fn node(outcome: Outcome, change: impl FnOnce(&mut Node)) -> Node {
    let boot = Status { outcome, reason: "the uplink of the hint".to_owned(), ..Status::default() };
    let report = Report {
        boot,
        in_force: true,
        not_recorded: false,
        pending: None,
        removed: None,
        drift: Vec::new(),
        drift_unknown: None,
        trial: None,
    };
    let mut node = Node { report, chosen: this_nodes(), record: Record::default(), at_work: None };
    change(&mut node);
    node
}

fn failed(fault: Fault, error: &str, change: impl FnOnce(&mut Node)) -> Node {
    let mut node = node(Outcome::Failed(fault), |it| it.report.in_force = false);
    node.report.boot.error = Some(error.to_owned());
    change(&mut node);
    node
}

fn good(change: impl FnOnce(&mut Node)) -> Node {
    node(Outcome::Succeeded(Success::Unchanged), change)
}

fn without_document(it: &mut Node) {
    it.chosen.document = None;
    it.chosen.reason = "no document for this node".to_owned();
}

fn bridge(it: &mut Node) {
    without_document(it);
    it.report.boot.bridge = Some(Bridge { uplink: "eno1".to_owned(), ..Bridge::default() });
}

fn trial(state: State) -> impl FnOnce(&mut Node) {
    move |it| {
        let trial = Trial::new("/root/new.yml".into(), Digest::of(b""), 60);
        let left = (state == State::Waiting).then_some(42);
        it.report.trial = Some(Tried { trial: Trial { state, ..trial }, left });
    }
}

fn at_work(it: &mut Node) {
    it.at_work = Some("dayone apply (process 1)".to_owned());
}

#[test]
fn each_verdict_has_its_line_its_reason_and_its_exit_code() {
    let silent = "probe gateway 192.0.2.254 failed";
    let twice = |it: &mut Node| {
        let failures =
            Failures { digest: Digest::of(b""), count: 2, last_error: silent.to_owned() };
        it.record.failures = Some(failures);
    };
    let running = || Outcome::Open(Open::Running);
    let not_run = || Outcome::Open(Open::NotRun);
    let of = |it: &mut Node| it.report.boot.phase = Some(Phase::Probe);
    let ok = true;
    for (node, line, reason, is_good) in [
        (
            failed(Fault::RollBackFailed, silent, |_| {}),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "failed, and the roll back failed too: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::RolledBack, silent, |it| it.report.boot.last_good_in_force = true),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml; the last good network carries the \
             node",
            "failed and rolled back: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::GivenUp, silent, |_| {}),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "failed too often, not tried again: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::Untouched, "no disk", |_| {}),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "failed, nothing was changed: no disk",
            !ok,
        ),
        // The record knows nothing of the failure: the document was committed before.
        (
            failed(Fault::RolledBack, silent, |it| it.report.in_force = true),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "failed and rolled back: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::GivenUp, silent, |it| it.report.in_force = true),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "failed too often, not tried again: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::Untouched, "committed/automatic.json", |it| {
                without_document(it);
                it.report.in_force = true;
            }),
            "NOT IN FORCE: this node's network",
            "failed, nothing was changed: committed/automatic.json",
            !ok,
        ),
        (
            failed(Fault::RolledBack, silent, bridge),
            "NOT IN FORCE: br-ex on eno1",
            "failed and rolled back: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            failed(Fault::NotRecorded, "the network is in force, but recording failed", |_| {}),
            "NOT RECORDED: /etc/nmstate/openshift/worker-0.yml is in force",
            "the network is in force, but recording failed",
            !ok,
        ),
        (
            failed(Fault::NotRecorded, "the network is in force, but recording failed", bridge),
            "NOT RECORDED: br-ex on eno1 is in force",
            "the network is in force, but recording failed",
            !ok,
        ),
        (
            node(Outcome::Succeeded(Success::Nothing), |it| it.report.in_force = false),
            "NOT IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "it is not committed; this boot: nothing to do",
            !ok,
        ),
        (
            node(running(), of),
            "INTERRUPTED: /etc/nmstate/openshift/worker-0.yml",
            "the run ended without an account, the last phase: probing the new network",
            !ok,
        ),
        (
            node(running(), |it| (of(it), at_work(it)).1),
            "RUNNING: /etc/nmstate/openshift/worker-0.yml",
            "probing the new network; by dayone apply (process 1)",
            !ok,
        ),
        (
            good(|it| {
                without_document(it);
                it.report.in_force = false;
                it.report.removed = Some(FILE.into());
            }),
            "REMOVED: /etc/nmstate/openshift/worker-0.yml is gone; its network stays",
            "no document for this node",
            !ok,
        ),
        (
            node(not_run(), |it| {
                it.report.in_force = false;
                it.report.pending = Some(Digest::of(b""));
            }),
            "NOT RUN: /etc/nmstate/openshift/worker-0.yml is not in force",
            "dayone has not run in this boot",
            !ok,
        ),
        (
            good(|it| it.report.pending = Some(Digest::of(b""))),
            "PENDING: /etc/nmstate/openshift/worker-0.yml",
            "it changed after this boot's run; the next boot applies it",
            !ok,
        ),
        (
            good(|it| (twice(it), it.report.pending = Some(Digest::of(b""))).1),
            "PENDING: /etc/nmstate/openshift/worker-0.yml",
            "it failed 2 times; the last error: probe gateway 192.0.2.254 failed",
            !ok,
        ),
        (
            good(|it| it.report.drift_unknown = Some("no bus".to_owned())),
            "COMMITTED: /etc/nmstate/openshift/worker-0.yml; drift unknown",
            "no bus",
            !ok,
        ),
        (
            good(|it| it.report.drift = vec!["br-ex".to_owned()]),
            "DRIFTED: /etc/nmstate/openshift/worker-0.yml",
            "the current state lacks parts of it: br-ex",
            !ok,
        ),
        (
            good(trial(State::Applying)),
            "TRIAL: /root/new.yml is interrupted",
            "its agent was killed; dayone-trial.service starts again by itself and undoes it",
            !ok,
        ),
        (
            good(trial(State::Waiting)),
            "TRIAL: /root/new.yml is interrupted",
            "its agent was killed; dayone-trial.service starts again by itself and undoes it",
            !ok,
        ),
        (
            good(trial(State::RollBackFailed)),
            "TRIAL: /root/new.yml is over, the old network is not back",
            "",
            !ok,
        ),
        (
            good(|it| (trial(State::Applying)(it), at_work(it)).1),
            "TRIAL: /root/new.yml is being applied",
            "it begins",
            !ok,
        ),
        (
            good(|it| (trial(State::Waiting)(it), at_work(it)).1),
            "TRIAL: /root/new.yml; 42 s left",
            "it is applied, and the old network returns by itself unless it is confirmed",
            !ok,
        ),
        (
            good(trial(State::Confirmed)),
            "TRIAL: /root/new.yml stays until the next boot",
            "it is confirmed, and is not this node's document",
            !ok,
        ),
        (
            good(|it| {
                without_document(it);
                let (tried, files) = (vec!["worker-9.yml".to_owned()], vec!["a.yml".to_owned()]);
                it.chosen.unmatched = Some(Unmatched { tried, files });
            }),
            "NO DOCUMENT: files of other nodes only (1)",
            "no file is this node's: it looks for worker-9.yml; there are a.yml",
            ok,
        ),
        (good(without_document), "NO DOCUMENT: nothing to do", "no document for this node", ok),
        (
            node(not_run(), |_| {}),
            "IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "no run yet; host file for short hostname worker-0",
            ok,
        ),
        (
            good(bridge),
            "IN FORCE: br-ex on eno1",
            "in force already, nothing done; the uplink of the hint",
            ok,
        ),
        (
            node(Outcome::Succeeded(Success::Committed), |_| {}),
            "IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "applied and committed; host file for short hostname worker-0",
            ok,
        ),
        (
            good(trial(State::Asked)),
            "IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "in force already, nothing done; host file for short hostname worker-0",
            ok,
        ),
        (
            good(trial(State::Undone)),
            "IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "in force already, nothing done; host file for short hostname worker-0",
            ok,
        ),
        (
            good(trial(State::Failed)),
            "IN FORCE: /etc/nmstate/openshift/worker-0.yml",
            "in force already, nothing done; host file for short hostname worker-0",
            ok,
        ),
    ] {
        let Node { report, chosen, record, at_work } = &node;
        let verdict = verdict(&Seen { report, chosen, record, at_work: at_work.clone() });
        assert_eq!((&*verdict.line, &*verdict.reason), (line, reason));
        let result = verdict.result();
        assert_eq!(result.is_ok(), is_good, "{line}: {result:?}");
        let told = result.err().map_or(0, |error| error.exit() as u8);
        assert_eq!(told, if is_good { 0 } else { 3 }, "{line}");
    }
}

#[test]
fn the_file_has_one_word_for_each_outcome() -> Result<(), serde_json::Error> {
    let succeeded = Outcome::Succeeded;
    for (outcome, word) in [
        (Outcome::Open(Open::NotRun), "not-run"),
        (Outcome::Open(Open::Running), "running"),
        (succeeded(Success::Committed), "committed"),
        (succeeded(Success::Unchanged), "unchanged"),
        (succeeded(Success::Adopted), "adopted"),
        (succeeded(Success::Nothing), "nothing"),
        (succeeded(Success::Removed), "removed"),
        (Outcome::Failed(Fault::Untouched), "failed"),
        (Outcome::Failed(Fault::RolledBack), "rolled-back"),
        (Outcome::Failed(Fault::RollBackFailed), "roll-back-failed"),
        (Outcome::Failed(Fault::GivenUp), "given-up"),
    ] {
        let status = Status { outcome, ..Status::default() };
        let json = serde_json::to_value(&status)?;
        assert_eq!(json["outcome"], word);
        assert_eq!(serde_json::from_value::<Status>(json)?.outcome, outcome);
    }
    // Read back as a failure before any change; the commit on disk tells the two apart.
    assert_eq!(serde_json::to_value(Outcome::Failed(Fault::NotRecorded))?, "failed");
    Ok(())
}

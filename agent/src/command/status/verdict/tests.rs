//! Every verdict as a user sees it: the first line and the reason, and whether the exit code is 0.

use super::{Code, GracePeriod, assess};
use crate::{
    command::status::next_boot::LackingUnit,
    command::status::report::{ChangeReport, NodeStatus, StatusReport, TrialReport},
    document::{Chosen, Document, digest::Digest, unmatched::Unmatched},
    durable::{
        adopted::AdoptedChange,
        record::{Failures, Record},
    },
    model::{
        Family,
        facts::{Outage, StoppedService},
    },
    network::causes::Cause,
    run::mtu_migration::{OfLink, Standing},
    status::{
        BridgeStatus, Fault, Open, Outcome, Status, Success,
        phase::Phase,
        trial::{Trial, TrialState},
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

fn node(outcome: Outcome, change: impl FnOnce(&mut NodeStatus)) -> NodeStatus {
    let boot = Status { outcome, reason: "the uplink of the hint".to_owned(), ..Status::default() };
    let report = StatusReport { boot, in_force: true, ..StatusReport::default() };
    let mut node =
        NodeStatus { report, chosen: this_nodes(), record: Record::default(), at_work: None };
    change(&mut node);
    node
}

fn failed(fault: Fault, change: impl FnOnce(&mut NodeStatus)) -> NodeStatus {
    node(Outcome::Failed(fault), |node| {
        node.report.in_force = false;
        node.report.boot.error = Some("why".to_owned());
        change(node);
    })
}

fn good(change: impl FnOnce(&mut NodeStatus)) -> NodeStatus {
    node(Outcome::Succeeded(Success::Unchanged), change)
}

fn without_document(node: &mut NodeStatus) {
    node.chosen.document = None;
    node.chosen.reason = "no document for this node".to_owned();
}

fn bridge(node: &mut NodeStatus) {
    without_document(node);
    node.report.boot.bridge = made();
}

fn masked() -> Vec<LackingUnit> {
    vec![LackingUnit { name: "dayone.service", is_masked: true, effect: "does not apply it" }]
}

fn made() -> Option<BridgeStatus> {
    Some(BridgeStatus { uplink: "eno1".to_owned(), ..BridgeStatus::default() })
}

/// The document cannot be read, and this boot's run was before that.
fn unread(node: &mut NodeStatus) {
    without_document(node);
    node.report.in_force = false;
    node.report.is_unread = true;
    node.report.refused = Some("it is not UTF-8".to_owned());
}

fn trial(state: TrialState) -> impl FnOnce(&mut NodeStatus) {
    move |node| {
        let trial = Trial::new("new.yml".into(), Digest::of(b""), 60);
        let left = (state == TrialState::Waiting).then_some(42);
        node.report.trial = Some(TrialReport { trial: Trial { state, ..trial }, left });
    }
}

fn at_work(node: &mut NodeStatus) {
    node.at_work = Some("dayone apply (process 1)".to_owned());
}

/// An attempt after one that failed.
fn second(node: &mut NodeStatus) {
    (node.report.boot.attempt, node.report.boot.failed_before) = (2, Some("why".to_owned()));
}

fn not_in_force(node: &mut NodeStatus) {
    node.report.in_force = false;
}

fn pending(node: &mut NodeStatus) {
    node.report.pending = Some(Digest::of(b""));
}

fn held(node: &mut NodeStatus) {
    node.report.held = true;
}

fn down(service: StoppedService) -> impl FnOnce(&mut NodeStatus) {
    move |node| {
        let start = "`systemctl start it` starts it".to_owned();
        node.report.down = Some(Outage { service, is_late: false, why: "why".to_owned(), start });
        node.report.drift_unknown = Some("it is down".to_owned());
    }
}

/// The verdict in a node, for programs: its word and its reason; and what to do.
fn judged(node: &NodeStatus) -> (&'static str, Option<Code>, String) {
    let assessment = assess(node);
    (assessment.verdict.row().word, assessment.code, assessment.next)
}

#[test]
fn a_boot_that_is_held_is_told_first_whatever_the_record_says() {
    let running = || Outcome::Open(Open::Running);
    for (node, code, reason) in [
        (good(held), Code::NotRun, "no run of this boot has decided yet"),
        (
            good(|node| (held(node), at_work(node)).1),
            Code::AtWork,
            "no run of this boot has decided yet",
        ),
        (
            node(Outcome::Open(Open::NotRun), held),
            Code::NotRun,
            "NOT RUN: FILE is not in force; dayone has not run in this boot",
        ),
        (
            node(running(), |node| (held(node), at_work(node)).1),
            Code::AtWork,
            "RUNNING: FILE; it began; by dayone apply (process 1)",
        ),
        (
            node(running(), held),
            Code::Interrupted,
            "INTERRUPTED: FILE; the run ended without an account, the last phase: it began",
        ),
        (
            failed(Fault::GivenUp, |node| (held(node), node.report.in_force = true).1),
            Code::GivenUp,
            "NOT IN FORCE: FILE; why",
        ),
        (
            failed(Fault::RolledBack, |node| (bridge(node), held(node)).1),
            Code::RolledBack,
            "NOT IN FORCE: br-ex on eno1; why",
        ),
        (
            good(|node| (without_document(node), held(node)).1),
            Code::NotRun,
            "no run of this boot has decided yet",
        ),
        (
            failed(Fault::Untouched, |node| {
                down(StoppedService::OpenVswitch)(node);
                held(node);
            }),
            Code::OpenVswitchDown,
            "NOT IN FORCE: FILE; Open vSwitch is down; failed, nothing was changed: why",
        ),
    ] {
        let text = format!("WAITING: kubelet does not start; {reason}");
        let (told, exit) = told(&node);
        assert_eq!((told, exit), (text, 3));
        let (word, reason, next) = judged(&node);
        assert_eq!((word, reason), ("WAITING", Some(code)));
        assert!(!next.is_empty());
    }
}

#[test]
fn a_service_that_is_down_is_named_first_with_what_starts_it() {
    let start = "`systemctl start it` starts it";
    for (node, word, code, text, next) in [
        (
            good(down(StoppedService::OpenVswitch)),
            "COMMITTED",
            Code::OpenVswitchDown,
            "COMMITTED: FILE; Open vSwitch is down; why; differences cannot be told",
            start.to_owned(),
        ),
        (
            good(down(StoppedService::NetworkManager)),
            "COMMITTED",
            Code::NetworkManagerDown,
            "COMMITTED: FILE; NetworkManager is down; why; differences cannot be told",
            start.to_owned(),
        ),
        (
            failed(Fault::RolledBack, down(StoppedService::Bus)),
            "NOT IN FORCE",
            Code::BusDown,
            "NOT IN FORCE: FILE; the system bus is down; why",
            format!("{start}, then `dayone apply`"),
        ),
    ] {
        assert_eq!(told(&node), (text.to_owned(), 3));
        assert_eq!(judged(&node), (word, Some(code), next));
    }
}

/// Line and reason of a verdict, with FILE for the document, and the exit code.
fn told(node: &NodeStatus) -> (String, u8) {
    let verdict = assess(node);
    let text = format!("{}; {}", verdict.line, verdict.reason).replace(FILE, "FILE");
    let result = verdict.result();
    if let Err(error) = &result {
        assert_eq!(error.to_string().replace(FILE, "FILE"), text);
    }
    (text, result.err().map_or(0, |error| error.exit() as u8))
}

#[test]
fn a_network_that_is_not_this_nodes_has_a_verdict_and_exit_code_3() {
    let in_force = |node: &mut NodeStatus| node.report.in_force = true;
    let running = || Outcome::Open(Open::Running);
    let probing = |node: &mut NodeStatus| node.report.boot.phase = Some(Phase::Probe);
    for (node, text) in [
        (failed(Fault::RollBackFailed, |_| {}), "NOT IN FORCE: FILE; why"),
        (
            failed(Fault::RolledBack, |node| node.report.boot.last_good_in_force = true),
            "FELL BACK: FILE is not in force; the last good network carries the node; why",
        ),
        (failed(Fault::GivenUp, |_| {}), "NOT IN FORCE: FILE; why"),
        (failed(Fault::Untouched, |_| {}), "NOT IN FORCE: FILE; failed, nothing was changed: why"),
        (failed(Fault::RolledBack, bridge), "NOT IN FORCE: br-ex on eno1; why"),
        // The record knows nothing of the failure: the document was committed before.
        (failed(Fault::RollBackFailed, in_force), "NOT IN FORCE: FILE; why"),
        (failed(Fault::RolledBack, in_force), "NOT IN FORCE: FILE; why"),
        (failed(Fault::GivenUp, in_force), "NOT IN FORCE: FILE; why"),
        (
            failed(Fault::Untouched, |node| (without_document(node), in_force(node)).1),
            "NOT IN FORCE: this node's network; failed, nothing was changed: why",
        ),
        (failed(Fault::NotRecorded, |_| {}), "NOT RECORDED: FILE is in force; why"),
        (failed(Fault::NotRecorded, bridge), "NOT RECORDED: br-ex on eno1 is in force; why"),
        (
            node(Outcome::Succeeded(Success::Nothing), not_in_force),
            "NOT IN FORCE: FILE; it is not committed; this boot: nothing to do",
        ),
        (
            node(running(), probing),
            "INTERRUPTED: FILE; the run ended without an account, the last phase: probing the new network",
        ),
        (
            node(running(), |node| (probing(node), at_work(node)).1),
            "RUNNING: FILE; probing the new network; by dayone apply (process 1)",
        ),
        (
            node(running(), |node| (second(node), probing(node), at_work(node)).2),
            "RUNNING: FILE; probing the new network; by dayone apply (process 1); this is attempt 2, \
             and the one before failed: why",
        ),
        (
            node(running(), |node| (second(node), probing(node)).1),
            "INTERRUPTED: FILE; the run ended without an account, the last phase: probing the new \
             network; this is attempt 2, and the one before failed: why",
        ),
        (
            good(|node| {
                without_document(node);
                node.report.removed = Some(FILE.into());
            }),
            "REMOVED: FILE is gone; its network stays; no document for this node",
        ),
        (
            good(|node| {
                without_document(node);
                node.report.removed = Some("/etc/nmstate/openshift/applied".into());
            }),
            "REMOVED: the file of the document in /etc/nmstate/openshift/applied is gone; its network stays; no document for this node",
        ),
        (
            node(Outcome::Open(Open::NotRun), |node| (not_in_force(node), pending(node)).1),
            "NOT RUN: FILE is not in force; dayone has not run in this boot",
        ),
        (
            good(|node| {
                without_document(node);
                node.report.removed = Some(FILE.into());
                node.report.is_anothers = true;
            }),
            "REMOVED: FILE is not this node's under the name worker-0; its network stays; no document for this node",
        ),
        // The automatic bridge that takes the place of a removed document.
        (
            failed(Fault::RolledBack, |node| {
                bridge(node);
                node.report.removed = Some(FILE.into());
            }),
            "NOT IN FORCE: br-ex on eno1; why",
        ),
        (
            good(pending),
            "PENDING: FILE; it changed after this boot's run; the next boot applies it",
        ),
        (
            good(|node| {
                pending(node);
                node.report.boot.digest = Some(Digest::of(b"").to_string());
            }),
            "PENDING: FILE; files of /etc/nmstate, which are applied with it, changed after this boot's run; the next boot applies it",
        ),
        (
            good(|node| (unread(node), bridge(node)).1),
            "REFUSED: this node's document; the next boot will refuse it: it is not UTF-8",
        ),
        (
            good(|node| (unread(node), held(node)).1),
            "WAITING: kubelet does not start; REFUSED: this node's document; the next boot will refuse it: it is not UTF-8",
        ),
        (
            good(|node| {
                pending(node);
                let (digest, last_error) = (Digest::of(b""), "why".to_owned());
                node.record.failures = Some(Failures {
                    digest,
                    count: 2,
                    last_error,
                    boot_id: String::new(),
                    cut_off: 0,
                });
            }),
            "PENDING: FILE; it failed 2 times; the last error: why",
        ),
        (
            good(|node| {
                pending(node);
                node.report.refused = Some("worker-0.yml:4:32: VLAN id".to_owned());
            }),
            "REFUSED: FILE; the next boot will refuse it: worker-0.yml:4:32: VLAN id",
        ),
        (
            good(|node| {
                pending(node);
                node.report.units = masked();
            }),
            "PENDING: FILE; it changed after this boot's run; dayone.service is masked: the next boot does not apply it",
        ),
        (
            good(|node| node.report.units = masked()),
            "IN FORCE: FILE; disabled; dayone.service is masked: the next boot does not apply it",
        ),
        (
            good(|node| node.report.silent = Some("192.0.2.1 is silent".to_owned())),
            "IN FORCE: FILE; no gateway answers; 192.0.2.1 is silent; in force already, nothing done",
        ),
        (
            good(|node| node.report.saved = vec!["br-ex".to_owned()]),
            "DRIFTED: FILE; the next activation of the saved profiles changes it: br-ex",
        ),
        (
            good(|node| node.report.drift_unknown = Some("no bus".to_owned())),
            "COMMITTED: FILE; drift unknown; no bus",
        ),
        (
            good(|node| node.report.drift = vec!["br-ex".to_owned()]),
            "DRIFTED: FILE; the current state lacks parts of it: br-ex",
        ),
        (
            good(trial(TrialState::Applying)),
            "TRIAL: new.yml is interrupted; its agent was killed; dayone-trial.service starts again by \
             itself and undoes it",
        ),
        (
            good(trial(TrialState::Waiting)),
            "TRIAL: new.yml is interrupted; its agent was killed; dayone-trial.service starts again by \
             itself and undoes it",
        ),
        (
            good(trial(TrialState::RollBackFailed)),
            "TRIAL: new.yml is over, the old network is not back; ",
        ),
        (
            good(|node| (trial(TrialState::Applying)(node), at_work(node)).1),
            "TRIAL: new.yml is being applied; it begins",
        ),
        (
            good(|node| (trial(TrialState::Waiting)(node), at_work(node)).1),
            "TRIAL: new.yml; 42 s left; it is applied, and the old network returns by itself unless it \
             is confirmed",
        ),
        (
            good(|node| {
                trial(TrialState::Confirmed)(node);
                pending(node);
                node.report.refused = Some("VLAN id".to_owned());
            }),
            "REFUSED: FILE; the next boot will refuse it: VLAN id",
        ),
        (
            good(trial(TrialState::Confirmed)),
            "TRIAL: new.yml stays until the next boot; it is confirmed, and is not this node's document",
        ),
    ] {
        assert_eq!(told(&node), (text.to_owned(), 3));
    }
}

#[test]
fn a_network_in_force_and_a_node_without_a_document_have_exit_code_0() {
    let unmatched = |node: &mut NodeStatus| {
        without_document(node);
        let (tried, files) = (vec!["worker-9.yml".to_owned()], vec!["a.yml".to_owned()]);
        node.chosen.unmatched = Some(Unmatched { tried, files });
    };
    let unchanged =
        "IN FORCE: FILE; in force already, nothing done; host file for short hostname worker-0";
    for (node, text) in [
        (
            good(unmatched),
            "NO DOCUMENT: files of other nodes only (1); no file is this node's: it looks for \
             worker-9.yml; there are a.yml",
        ),
        (
            good(|node| (unmatched(node), node.report.boot.bridge = made()).1),
            "IN FORCE: br-ex on eno1; files of other nodes only (1); no file is this node's: it looks for worker-9.yml; there are a.yml",
        ),
        (good(without_document), "NO DOCUMENT: nothing to do; no document for this node"),
        (
            node(Outcome::Open(Open::NotRun), |_| {}),
            "IN FORCE: FILE; no run yet; host file for short hostname worker-0",
        ),
        (
            good(bridge),
            "IN FORCE: br-ex on eno1; in force already, nothing done; the uplink of the hint",
        ),
        (good(|_| {}), unchanged),
        (good(trial(TrialState::Asked)), unchanged),
        (good(trial(TrialState::Undone)), unchanged),
        (good(trial(TrialState::Failed)), unchanged),
    ] {
        assert_eq!(told(&node), (text.to_owned(), 0));
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

#[test]
fn a_canary_is_held_although_its_last_good_network_carries_it() {
    let node = failed(Fault::RolledBack, |node| {
        held(node);
        node.report.boot.last_good_in_force = true;
        node.report.stays_held = true;
    });
    let expected = "WAITING: kubelet does not start: on-failure is \"hold\"; FELL BACK: FILE is not in force; the last \
                    good network carries the node; why";
    assert_eq!(told(&node), (expected.to_owned(), 3));
    let (word, code, next) = judged(&node);
    assert_eq!((word, code), ("WAITING", Some(Code::HeldOnPurpose)));
    assert!(next.contains("`dayone rollback`"), "{next}");
}

#[test]
fn a_commit_without_an_answer_of_this_boot_is_told() {
    let node = good(|node| node.report.boot.unproved = vec!["api".to_owned()]);
    let (text, exit) = told(&node);
    assert!(
        text.starts_with(
            "IN FORCE: FILE; without an answer of api; it answered earlier in this boot"
        ),
        "{text}"
    );
    assert_eq!(exit, 3);
    let (word, code, _) = judged(&node);
    assert_eq!((word, code), ("IN FORCE", Some(Code::Unproved)));
}

#[test]
fn a_family_that_is_gone_is_told_in_the_first_line_and_is_no_alarm() {
    let node = good(|node| node.report.missing_families = vec![Family::Ipv6]);
    let (text, exit) = told(&node);
    assert!(
        text.starts_with("IN FORCE: FILE; without IPv6; the network had it at the commit"),
        "{text}"
    );
    assert_eq!(exit, 0);
    let (word, code, _) = judged(&node);
    assert_eq!((word, code), ("IN FORCE", Some(Code::FamilyMissing)));
}

#[test]
fn an_mtu_below_that_of_the_cluster_is_told_and_a_larger_one_is_no_alarm() {
    let links = |mtu| vec![OfLink { name: "br-ex".to_owned(), mtu }];
    let has = |mtu| {
        good(|node| node.report.mtu_migration = Some(Standing { target: 9000, links: links(mtu) }))
    };
    let text = "IN FORCE: FILE; its MTU is too small for the cluster; the cluster wants an MTU of 9000, br-ex of the \
                document has 1500";
    assert_eq!(told(&has(1500)), (text.to_owned(), 3));
    let (word, code, next) = judged(&has(1500));
    assert_eq!((word, code), ("IN FORCE", Some(Code::MtuMigration)));
    assert!(next.starts_with("put `mtu: 9000` into the document"), "{next}");
    for enough in [9000, 9216] {
        assert_eq!((told(&has(enough)).1, judged(&has(enough)).1), (0, None));
    }
}

#[test]
fn an_adopted_change_is_told_and_no_alarm() {
    let change = || {
        let adopted = AdoptedChange::new(&[], Some("CHG-7".to_owned()));
        Some(ChangeReport::new(&adopted, vec!["br-ex: ipv4".to_owned()]))
    };
    let adopted = |node: &mut NodeStatus| node.report.adopted = change();
    let text = "IN FORCE: FILE; with an adopted change; br-ex: ipv4, adopted just now: CHG-7";
    assert_eq!(told(&good(adopted)), (text.to_owned(), 0));
    assert_eq!(judged(&good(adopted)).1, Some(Code::ChangeAdopted));
    // Other things go first.
    let silent =
        good(|node| (adopted(node), node.report.silent = Some("it is silent".to_owned())).1);
    assert_eq!(judged(&silent).1, Some(Code::GatewaySilent));
}

#[test]
fn a_document_that_is_back_is_in_force_without_another_run() {
    let other = |digest: Option<String>| {
        failed(Fault::RolledBack, |node| {
            node.report.in_force = true;
            node.report.boot.last_good_in_force = true;
            node.report.boot.digest = digest;
        })
    };
    let text = "IN FORCE: FILE; another document failed, and this one is back; host file for short hostname worker-0";
    assert_eq!(told(&other(Some(Digest::of(b"another").to_string()))), (text.to_owned(), 0));
    for own in [None, Some(Digest::of(b"").to_string())] {
        assert_eq!(told(&other(own)).1, 3);
    }
}

#[test]
fn a_boot_that_is_held_by_a_failure_fails_at_once() {
    for (node, patience) in [
        (failed(Fault::RolledBack, held), GracePeriod::None),
        (node(Outcome::Open(Open::NotRun), held), GracePeriod::Run),
        (good(|node| (held(node), at_work(node)).1), GracePeriod::Run),
        // A service may be down for the moment of a restart, whatever the network is.
        (
            good(|node| (trial(TrialState::Confirmed)(node), down(StoppedService::Bus)(node)).1),
            GracePeriod::Run,
        ),
        (good(trial(TrialState::Confirmed)), GracePeriod::Endless),
    ] {
        assert_eq!(assess(&node).verdict.row().patience, patience, "{}", assess(&node).line);
    }
}

/// Nobody waits for what does not come.
#[test]
fn the_next_step_is_one_that_happens() {
    let running = || Outcome::Open(Open::Running);
    let failed_before = |node: &mut NodeStatus| {
        not_in_force(node);
        pending(node);
        node.report.boot.last_good_in_force = true;
        let (digest, last_error) = (Digest::of(b""), "why".to_owned());
        let (count, boot_id, cut_off) = (1, String::new(), 0);
        node.record.failures = Some(Failures { digest, last_error, count, boot_id, cut_off });
    };
    for (node, text, next, patience) in [
        (
            node(running(), held),
            "WAITING: ",
            "dayone.service starts again by itself",
            GracePeriod::None,
        ),
        (
            node(running(), |_| {}),
            "INTERRUPTED: ",
            "`dayone apply` undoes what is left",
            GracePeriod::Run,
        ),
        (
            good(failed_before),
            "FELL BACK: FILE is not in force; the last good network carries the node; it failed once; \
             the last error: why",
            "the next boot tries it once",
            GracePeriod::None,
        ),
        (
            good(|node| (failed_before(node), node.report.boot.last_good_in_force = false).1),
            "PENDING: FILE; it failed once; the last error: why",
            "`dayone apply` puts it in force now",
            GracePeriod::Pending,
        ),
        // The first moment of a run, whose account is still the one before.
        (
            good(|node| (pending(node), held(node)).1),
            "WAITING: kubelet does not start; PENDING: FILE; it changed after this boot's run; ",
            "`dayone check` checks it",
            GracePeriod::Run,
        ),
        (
            good(|node| node.report.units = masked()),
            "IN FORCE: FILE; disabled; ",
            "`systemctl unmask dayone.service`, then `systemctl enable dayone.service`",
            GracePeriod::None,
        ),
    ] {
        assert!(told(&node).0.starts_with(text), "{text} in {}", told(&node).0);
        let assessment = assess(&node);
        assert!(assessment.next.contains(next), "{next} in {}", assessment.next);
        assert_eq!(assessment.verdict.row().patience, patience, "{text}");
    }
}

/// The cause comes before what follows from it, and what mends it before anything else.
#[test]
fn a_cause_is_named_first_with_the_command_that_mends_it() {
    let cause = || Cause { what: "networking is off".to_owned(), remedy: "`mend it`".to_owned() };
    let with_cause = |node: &mut NodeStatus| node.report.causes = vec![cause()];
    for (node, text) in [
        (failed(Fault::RolledBack, with_cause), "NOT IN FORCE: FILE; networking is off; why"),
        (
            failed(Fault::RolledBack, |node| (held(node), with_cause(node)).1),
            "WAITING: kubelet does not start; networking is off; NOT IN FORCE: FILE; ",
        ),
        (
            good(|node| (without_document(node), turn(node), with_cause(node)).2),
            "WAITING: kubelet does not start; networking is off; dayone-bridge.service waits",
        ),
    ] {
        assert!(told(&node).0.starts_with(text), "{text} in {}", told(&node).0);
        assert_eq!(told(&node).1, 3, "{text}");
        assert!(judged(&node).2.starts_with("`mend it`; "), "{}", judged(&node).2);
    }
    let healthy = good(with_cause);
    assert_eq!((told(&healthy).1, judged(&healthy).2), (0, String::new()));
}

fn turn(node: &mut NodeStatus) {
    let turn = "dayone-bridge.service waits for its turn, after nodeip-configuration.service";
    node.report.turn = Some(turn.to_owned());
}

#[test]
fn a_unit_that_waits_for_its_turn_holds_the_boot() {
    let no_document = node(Outcome::Succeeded(Success::Nothing), |node| {
        without_document(node);
        turn(node);
    });
    let text = "WAITING: kubelet does not start; dayone-bridge.service waits for its turn, after \
                nodeip-configuration.service";
    assert_eq!(told(&no_document), (text.to_owned(), 3));
    assert_eq!(judged(&no_document).1, Some(Code::NotRun));
    assert_eq!(assess(&no_document).verdict.row().patience, GracePeriod::Run);
    // Nothing waits: a node without OVN-Kubernetes, or one on which kubelet is disabled.
    let nothing = node(Outcome::Succeeded(Success::Nothing), without_document);
    assert_eq!(told(&nothing).1, 0);
}

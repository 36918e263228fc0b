//! One attempt of either kind: counted, decided, told to the units that wait, and reported.

use std::path::Path;

use tokio::sync::watch;

use super::{
    Caller, Extent, Run, Subject, bridge,
    decision::{
        Decision::{self, Hold, Release},
        End, Facts, HoldReason, ReleaseReason, decide,
    },
    document,
    fall_back::Fallback,
    fault_of, marks, no_bridge, peers, refused,
};
use crate::{
    error::Error,
    paths::Paths,
    status::{
        Fault, Outcome, StatusFile,
        log::{Tone, console, message_id},
    },
};

/// Tries once. An error: the boot waits, or goes its way without this attempt, which was somebody's at a terminal.
pub(crate) async fn attempt(
    paths: &Paths,
    stop: &watch::Receiver<bool>,
    subject: Subject,
    extent: Extent,
    caller: Caller,
) -> Result<Decision, Error> {
    if subject == Subject::Bridge && !peers::is_ovn_kubernetes(paths) {
        no_bridge("the cluster's network is not OVN-Kubernetes: br-ex is not needed");
        return Ok(Release(ReleaseReason::BridgeOfOthers));
    }
    let run = Run::begin(paths, subject.command(), stop).await?;
    let result = match caller {
        Caller::Person => Box::pin(attempt_of(&run, subject, extent, caller, 0)).await,
        Caller::Service => {
            hold(&run, subject);
            let cut_off = marks::attempt_begins(paths, subject);
            let result = Box::pin(attempt_of(&run, subject, extent, caller, cut_off)).await;
            marks::attempt_ends(paths, subject);
            result
        }
    };
    run.finish();
    result
}

/// The boot waits for the attempt of a service.
fn hold(run: &Run<'_>, subject: Subject) {
    match subject {
        Subject::Document => run.publish(Hold(HoldReason::Document)),
        // Where br-ex is a document's, a start after a crash is skipped, and nobody would take the mark away.
        Subject::Bridge if run.paths.bridge_of_document().exists() => {}
        Subject::Bridge => run.publish(Hold(HoldReason::Bridge)),
    }
}

/// Tries once, after `cut_off` attempts in a row that ended with the agent.
async fn attempt_of(
    run: &Run<'_>,
    subject: Subject,
    extent: Extent,
    caller: Caller,
    cut_off: u32,
) -> Result<Decision, Error> {
    let earlier = match (subject, caller) {
        (Subject::Document, Caller::Person) => {
            let earlier = StatusFile::load(run.paths).ok().flatten();
            earlier.filter(|it| !matches!(it.outcome, Outcome::Open(_)))
        }
        (Subject::Document | Subject::Bridge, _) => None,
    };
    let most = run.settings.max_attempts;
    let cut_off = (most != 0 && cut_off >= most).then_some(cut_off);
    let end = match subject {
        Subject::Document => document::attempt(run, extent, cut_off).await,
        Subject::Bridge => bridge::attempt(run, cut_off).await?,
    };
    let (on_failure, is_stopped) = (run.settings.on_failure, run.is_stopped());
    let decision = decide(&Facts { subject, caller, end: &end, on_failure, is_stopped });
    match end {
        End::Succeeded(success) => {
            publish(run, decision).await;
            run.succeeded(success);
            if subject == Subject::Document {
                document::keep_record(run, success).await;
            }
        }
        End::BridgeOfDocument => {
            publish(run, decision).await;
            no_bridge("br-ex belongs to this node's document");
        }
        End::BridgeOfOthers => {
            publish(run, decision).await;
            no_bridge(
                "br-ex is left to other tools: this node has a document, and dayone.service is disabled",
            );
        }
        End::Failed { error, .. } if is_without_trace(run, &error) && earlier.is_some() => {
            run.status.update(|s| *s = earlier.unwrap_or_default());
            run.status.write();
            refused(&error);
            return Err(error);
        }
        End::Failed { error, fallback } => {
            return failed(run, subject, decision, error, &fallback).await;
        }
    }
    Ok(decision)
}

/// Tells the units that wait, after the side effects of those that a document holds back.
async fn publish(run: &Run<'_>, decision: Decision) {
    let is_by_document = matches!(
        decision,
        Release(
            ReleaseReason::InForce
                | ReleaseReason::Unrecorded
                | ReleaseReason::LastGood
                | ReleaseReason::BridgeOfDocument
        )
    );
    if is_by_document {
        peers::stand_in(run.paths).await;
    }
    run.publish(decision);
}

/// Reports a failure, and what it means for the boot.
async fn failed(
    run: &Run<'_>,
    subject: Subject,
    decision: Decision,
    error: Error,
    fallback: &Fallback,
) -> Result<Decision, Error> {
    run.status.update(|s| {
        s.last_good = fallback.last_good().map(str::to_owned);
        s.last_good_in_force = matches!(fallback, Fallback::LastGood(_));
    });
    run.failed(&error);
    let document = run.status.get().document;
    let document = document.as_deref().unwrap_or(Path::new("the document"));
    let consequence = consequence(document, decision, fallback);
    match decision {
        Hold(_) => {
            if let Some(text) = consequence {
                tracing::warn!("{text}");
                console(Tone::Bad, &[text]);
            }
            Err(error)
        }
        Release(reason) => {
            if reason == ReleaseReason::BridgeOfOthers {
                bridge::start_configure_ovs(run).await;
            }
            publish(run, decision).await;
            let id = match subject {
                Subject::Document => message_id::GOES_ON,
                Subject::Bridge => message_id::BRIDGE_GOES_ON,
            };
            run.goes_on(&error, id, consequence.unwrap_or_default());
            Ok(decision)
        }
    }
}

/// What a failure means for the boot. `None`: it waits for the next attempt.
fn consequence(document: &Path, decision: Decision, fallback: &Fallback) -> Option<String> {
    let document = document.display();
    let last_good = fallback.last_good().unwrap_or_default();
    Some(match decision {
        Hold(HoldReason::LastGood) => format!(
            "{document} is NOT in force; {last_good}, and the boot waits: on-failure is \"hold\""
        ),
        Release(ReleaseReason::Unrecorded) => {
            format!("{document} is in force; the boot goes on: the next boot writes its record")
        }
        Release(ReleaseReason::LastGood) => {
            format!("{document} is NOT in force; the boot goes on: {last_good}")
        }
        Release(ReleaseReason::OnFailure) => {
            format!("{document} is NOT in force; the boot goes on: on-failure is \"continue\"")
        }
        Release(ReleaseReason::Bridge) => {
            "br-ex is in force; the boot goes on: the next boot records it".to_owned()
        }
        Release(ReleaseReason::BridgeOfDocument) => {
            "br-ex of the removed document stays: the automatic one cannot take its place; the boot goes on".to_owned()
        }
        Release(ReleaseReason::BridgeOfOthers) => {
            let why = match fallback {
                Fallback::ConfigureOvs => "configure-ovs makes it",
                _ => "on-failure is \"continue\"",
            };
            format!("br-ex was NOT made; the boot goes on: {why}")
        }
        Hold(_)
        | Release(ReleaseReason::InForce | ReleaseReason::Removed | ReleaseReason::NoDocument) => {
            return None;
        }
    })
}

/// Whether a run was stopped before its change. One by hand keeps the status of the run before it then.
fn is_without_trace(run: &Run<'_>, error: &Error) -> bool {
    run.is_stopped() && fault_of(error) == Fault::Untouched
}

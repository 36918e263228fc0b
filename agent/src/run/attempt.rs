//! One attempt of either kind: counted, decided, told to the units that wait, and reported.

use tokio::sync::watch;

use super::{
    AttemptKind, Caller, Extent, Run, bridge,
    decision::{
        AttemptEnd, BootFacts,
        Decision::{self, Hold, Release},
        Fallback, HoldReason, ReleaseReason, decide,
    },
    document, fault_of, hostname, marks, no_bridge, peers, refused,
};
use crate::{
    error::{Error, Result},
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
    kind: AttemptKind,
    extent: Extent,
    caller: Caller,
) -> Result<Decision> {
    if kind == AttemptKind::Bridge && !peers::is_ovn_kubernetes(paths).await {
        no_bridge("the cluster's network is not OVN-Kubernetes: br-ex is not needed");
        return Ok(Release(ReleaseReason::BridgeOfOthers));
    }
    if (kind, caller) == (AttemptKind::Bridge, Caller::Service) && bridge::is_late(paths).await {
        no_bridge("the network of this boot is decided: `dayone bridge` makes br-ex by hand");
        return Ok(Release(ReleaseReason::BridgeOfOthers));
    }
    let run = Run::begin(paths, kind.command(), stop).await?;
    let result = match caller {
        Caller::Person => Box::pin(attempt_of(&run, kind, extent, caller, 0)).await,
        Caller::Service => {
            hold(&run, kind);
            let cut_off = marks::attempt_begins(paths, kind);
            let result = Box::pin(attempt_of(&run, kind, extent, caller, cut_off)).await;
            marks::attempt_ends(paths, kind);
            result
        }
    };
    run.finish();
    result
}

/// The boot waits for the attempt of a service.
fn hold(run: &Run<'_>, kind: AttemptKind) {
    match kind {
        AttemptKind::Document => run.publish(Hold(HoldReason::Document)),
        // Where br-ex is a document's, a start after a crash is skipped, and nobody would take the mark away.
        AttemptKind::Bridge if run.paths.bridge_of_document().exists() => {}
        AttemptKind::Bridge => run.publish(Hold(HoldReason::Bridge)),
    }
}

/// Tries once, after `cut_off` attempts in a row that ended with the agent.
async fn attempt_of(
    run: &Run<'_>,
    kind: AttemptKind,
    extent: Extent,
    caller: Caller,
    cut_off: u32,
) -> Result<Decision> {
    let earlier = match (kind, caller) {
        (AttemptKind::Document, Caller::Person) => {
            let earlier = StatusFile::load(run.paths).ok().flatten();
            earlier.filter(|status| !matches!(status.outcome, Outcome::Open(_)))
        }
        (AttemptKind::Document | AttemptKind::Bridge, _) => None,
    };
    let most = run.settings.max_attempts;
    let cut_off = (most != 0 && cut_off >= most).then_some(cut_off);
    let end = match kind {
        AttemptKind::Document => document::attempt(run, extent, cut_off).await,
        AttemptKind::Bridge => bridge::attempt(run, cut_off).await?,
    };
    let (on_failure, is_stopped) = (run.settings.on_failure, run.is_stopped());
    let decision = decide(&BootFacts { kind, caller, end: &end, on_failure, is_stopped });
    match end {
        AttemptEnd::Succeeded(success) => {
            if kind == AttemptKind::Document {
                hostname::put_back(run.paths);
            }
            publish(run, decision).await;
            run.succeeded(success);
            if kind == AttemptKind::Document {
                document::keep_record(run, success).await;
            }
        }
        AttemptEnd::BridgeOfDocument => {
            publish(run, decision).await;
            no_bridge("br-ex belongs to this node's document");
        }
        AttemptEnd::BridgeOfOthers => {
            publish(run, decision).await;
            no_bridge(
                "br-ex is left to other tools: this node has a document, and dayone.service is disabled",
            );
        }
        // A run by hand that was stopped before its change keeps the status of the run before it.
        AttemptEnd::Failed { error, .. }
            if is_stopped && fault_of(&error) == Fault::Untouched && earlier.is_some() =>
        {
            run.status.update(|s| *s = earlier.unwrap_or_default());
            run.status.write();
            refused(&error);
            return Err(error);
        }
        AttemptEnd::Failed { error, fallback } => {
            return failed(run, decision, error, &fallback).await;
        }
    }
    Ok(decision)
}

/// Tells the units that wait, after the side effects of those that a document holds back.
async fn publish(run: &Run<'_>, decision: Decision) {
    use ReleaseReason::{BridgeOfDocument, InForce, LastGood, Unrecorded};
    if let Release(InForce | Unrecorded | LastGood | BridgeOfDocument) = decision {
        peers::stand_in(run.paths).await;
    }
    if matches!(decision, Release(_)) {
        peers::record_address_for_corosync(run.paths).await;
    }
    run.publish(decision);
}

/// Reports a failure, and what it means for the boot.
async fn failed(
    run: &Run<'_>,
    decision: Decision,
    error: Error,
    fallback: &Fallback,
) -> Result<Decision> {
    let last_good = fallback.last_good();
    run.status.update(|s| {
        s.last_good = last_good.map(str::to_owned);
        s.last_good_in_force = matches!(fallback, Fallback::LastGood(_));
    });
    run.failed(&error);
    let document = run.status.get().document.unwrap_or_else(|| "the document".into());
    let (document, last_good) = (document.display(), last_good.unwrap_or_default());
    let (id, text) = match (decision, fallback) {
        (Hold(HoldReason::LastGood), _) => {
            let text = format!(
                "{document} is NOT in force; {last_good}, and the boot waits: on-failure is \"hold\""
            );
            tracing::warn!("{text}");
            console(Tone::Bad, &[text]);
            return Err(error);
        }
        (Release(ReleaseReason::Unrecorded), _) => (
            message_id::GOES_ON,
            format!("{document} is in force; the boot goes on: the next boot writes its record"),
        ),
        (Release(ReleaseReason::LastGood), _) => (
            message_id::GOES_ON,
            format!("{document} is NOT in force; the boot goes on: {last_good}"),
        ),
        (Release(ReleaseReason::OnFailure), _) => (
            message_id::GOES_ON,
            format!("{document} is NOT in force; the boot goes on: {CONTINUE}"),
        ),
        (Release(ReleaseReason::Bridge), _) => (
            message_id::BRIDGE_GOES_ON,
            "br-ex is in force; the boot goes on: the next boot records it".to_owned(),
        ),
        (Release(ReleaseReason::BridgeOfDocument), _) => (
            message_id::BRIDGE_GOES_ON,
            "br-ex of the removed document stays: the automatic one cannot take its place; the boot goes on".to_owned(),
        ),
        (Release(ReleaseReason::BridgeOfOthers), fallback) => {
            bridge::start_configure_ovs(run).await;
            let is_given_up = matches!(fallback, Fallback::ConfigureOvs);
            let why = if is_given_up { "configure-ovs makes it" } else { CONTINUE };
            (message_id::BRIDGE_GOES_ON, format!("br-ex was NOT made; the boot goes on: {why}"))
        }
        (
            Hold(_)
            | Release(ReleaseReason::InForce | ReleaseReason::Removed | ReleaseReason::NoDocument),
            _,
        ) => return Err(error),
    };
    publish(run, decision).await;
    run.goes_on(&error, id, text);
    Ok(decision)
}

/// Why a boot goes on that has no other reason.
const CONTINUE: &str = "on-failure is \"continue\"";

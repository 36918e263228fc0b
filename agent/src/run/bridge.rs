//! The automatic br-ex of a node without a document.

use std::time::Duration;

use nmgen::chain;

use super::{
    Run,
    decision::{AttemptEnd, Decision, Fallback, HoldReason},
    global_dns,
    last_good::removed,
    marks, peers, recover, refused,
    signals::stoppable,
};
use crate::{
    bridge::{error::BridgeError, plan::BridgePlan},
    client::dbus::{has_job, start_unit, was_started},
    document,
    durable::record::Record,
    error::{Error, Result},
    network::{NetworkError, boot_time},
    paths::Paths,
    status::{BridgeStatus, StatusFile, Success, phase::Phase},
    transaction::{BridgeChange, Change, memory},
    warn::OrWarn as _,
};

/// Tries once. `cut_off`: so many attempts in a row that it is given up.
///
/// # Errors
/// Whose br-ex is, is not known yet. Reported, but not in the status file, which belongs to another run.
pub(super) async fn attempt(run: &Run<'_>, cut_off: Option<u32>) -> Result<AttemptEnd> {
    if let Some(count) = cut_off {
        return Ok(leave_alone(run, count).await);
    }
    let paths = run.paths;
    let replaces_document = match owner(paths).await.inspect_err(refused)? {
        BridgeOwner::Automatic => false,
        BridgeOwner::GoneDocument => true,
        BridgeOwner::Document => return Ok(AttemptEnd::BridgeOfDocument),
        BridgeOwner::Others => return Ok(AttemptEnd::BridgeOfOthers),
    };
    let hostname = StatusFile::load(paths).ok().flatten().unwrap_or_default().hostname;
    run.status.update(|s| {
        s.hostname = hostname;
        s.bridge = Some(BridgeStatus::default());
    });
    let error = match Box::pin(make(run, replaces_document)).await {
        Ok(success) => return Ok(AttemptEnd::Succeeded(success)),
        Err(error) => error,
    };
    // A network that works holds no boot.
    let fallback = match replaces_document && is_below_another(&error) {
        true => Fallback::RemovedDocument,
        false => Fallback::None,
    };
    Ok(AttemptEnd::Failed { error, fallback })
}

/// Returns whether a kubelet that starts once more has started the service, and not somebody's `systemctl start`: configure-ovs's
/// unit, which wants it, waits for its end. Where kubelet has run, or the boot is decided, br-ex stays what it is until the next
/// boot.
pub(super) async fn is_late(paths: &Paths) -> bool {
    if !paths.is_system() {
        return false;
    }
    let is_over = marks::is_bridge_decided(paths) || has_kubelet_started().await;
    is_over && has_job(peers::CONFIGURE_OVS).await.or_warn().unwrap_or(true)
}

/// Whether this boot has started kubelet; not without an answer of systemd.
async fn has_kubelet_started() -> bool {
    was_started(marks::KUBELET).await.or_warn().unwrap_or(false)
}

/// Returns whether br-ex is made when kubelet starts: by its first start in this boot, with OVN-Kubernetes.
pub(crate) async fn awaits_kubelet(paths: &Paths) -> bool {
    !has_kubelet_started().await && peers::is_ovn_kubernetes(paths).await
}

/// Leaves br-ex to configure-ovs.sh: the agent has ended in each attempt, and would for ever.
async fn leave_alone(run: &Run<'_>, count: u32) -> AttemptEnd {
    run.status.update(|s| s.bridge = Some(BridgeStatus::default()));
    // The recovery may be where the agent ended.
    if count == run.settings.max_attempts
        && let Err(error) = recover::online(run).await
    {
        run.warn(&format!("the last attempt is not undone: {}", chain(&error)));
    }
    AttemptEnd::Failed { error: Error::CutOff { count }, fallback: Fallback::ConfigureOvs }
}

/// Starts configure-ovs.sh, whose unit may have had its turn: the first crash ends the start of dayone-bridge.service, and the mark
/// kept that unit back. Started again, it waits for this service's readiness, and kubelet for it.
pub(super) async fn start_configure_ovs(run: &Run<'_>) {
    run.publish(Decision::Hold(HoldReason::GivesBridgeUp));
    if run.paths.is_system()
        && let Err(error) = start_unit(peers::CONFIGURE_OVS).await
    {
        run.warn(&format!("configure-ovs is not started: {}", chain(&error)));
    }
}

fn is_below_another(error: &Error) -> bool {
    matches!(
        error,
        Error::Network(NetworkError::Bridge(error)) | Error::Plan(error) if error.is_below_another()
    )
}

/// Owner of br-ex.
enum BridgeOwner {
    /// A document, of the agent or of another tool.
    Document,
    /// A document of the agent, whose file is gone.
    GoneDocument,
    /// Other tools, which applied documents before the agent: this node has one that the agent leaves alone.
    Others,
    /// The agent: no document is in force.
    Automatic,
}

async fn owner(paths: &Paths) -> Result<BridgeOwner> {
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await?;
    let document = chosen.document;
    let was_here = || record.committed.is_some() && removed(paths, &record).is_some();
    if document.is_none() && was_here() {
        return Ok(BridgeOwner::GoneDocument);
    }
    if paths.in_force().exists() || paths.applied().exists() {
        return Ok(BridgeOwner::Document);
    }
    match document {
        Some(_) if marks::is_undecided(paths) => Err(Error::DocumentFirst),
        Some(_) if !marks::is_agent_enabled(paths) => Ok(BridgeOwner::Others),
        Some(_) | None => Ok(BridgeOwner::Automatic),
    }
}

/// Makes br-ex, unless it is there.
async fn make(run: &Run<'_>, replaces_document: bool) -> Result<Success> {
    recover::online(run).await?;
    peers::stand_in(run.paths).await;
    let network = run.connect().await?;
    let say = |text: &str, bound| run.progress.say(text, bound);
    let start = run.progress.enter(Phase::SelectUplink, run.settings.wait.uplink.get());
    let bound = run.settings.wait.answer.get();
    let earlier =
        memory::update(run.paths, |memory| memory.uplink(boot_time(), bound).map(str::to_owned));
    let planned = network.plan_bridge(&run.settings, earlier.as_deref(), &say);
    let planned = stoppable(&run.stop, planned).await;
    run.progress.leave(Phase::SelectUplink, start, planned.is_ok());
    remember_uplink(run.paths, &planned);
    let plan = planned?;
    // Open vSwitch is up by now, if it was not.
    peers::stand_in(run.paths).await;
    let reason = format!("br-ex on {}: {}", plan.uplink.link, plan.uplink);
    tracing::info!("{reason}");
    for loss in &plan.losses {
        tracing::warn!("{loss}");
    }
    global_dns::warn(run);
    run.status.update(|s| {
        s.reason = reason;
        s.bridge = Some(BridgeStatus::from(&plan));
    });
    if !replaces_document
        && plan.remove.profiles.is_empty()
        && plan.remove.bridges.is_empty()
        && network.lacking(&plan).await?.is_empty()
    {
        return Ok(Success::Unchanged);
    }
    let change = BridgeChange { plan: &plan, replaces_document };
    run.transact(&network, &Change::Bridge(change)).await?;
    Ok(Success::Committed)
}

/// Remembers the uplink that a default route has chosen, for the next attempts of this boot alone: a file would make a wrong choice
/// one for good, as where the right card comes late.
fn remember_uplink(paths: &Paths, planned: &Result<BridgePlan>) {
    match planned {
        Ok(plan) if plan.uplink.reason.is_by_route() && plan.uplink.below.is_none() => {
            memory::update(paths, |memory| memory.choose_uplink(&plan.uplink.link));
        }
        Err(Error::Network(NetworkError::Bridge(BridgeError::NoRouteOfEarlier { .. }))) => {
            memory::update(paths, |memory| memory.miss_uplink(boot_time()));
        }
        Ok(_) | Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::Document,
        model::{Active, Uplinks},
    };
    use std::fs;

    #[tokio::test(flavor = "current_thread")]
    async fn a_document_is_others_where_the_agent_is_disabled() -> Result<(), std::io::Error> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(&path)).and_then(|()| fs::write(&path, text))
        };
        write("proc/sys/kernel/hostname", "worker-0\n")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Automatic)));
        write("etc/nmstate/openshift/worker-0.yml", "interfaces: []\n")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Others)));
        write("etc/systemd/system/multi-user.target.wants/dayone.service", "")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Automatic)));
        write("run/dayone/undecided", "")?;
        assert!(matches!(owner(&paths).await, Err(Error::DocumentFirst)));
        write("etc/nmstate/openshift/applied", "interfaces: []\n")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Document)));
        Ok(())
    }

    #[tokio::test(flavor = "current_thread")]
    async fn a_document_is_gone_with_its_file_and_not_with_the_nodes_name()
    -> Result<(), Box<dyn std::error::Error>> {
        let root = tempfile::tempdir()?;
        let paths = Paths::new(root.path());
        fs::create_dir_all(paths.documents())?;
        fs::create_dir_all(paths.state_dir())?;
        let file = paths.documents().join("worker-0.yml");
        fs::write(&file, "interfaces: []\n")?;
        let path = "/etc/nmstate/openshift/worker-0.yml".into();
        let document = Document { path, ..Document::read(file.clone())? };
        let record = Record::of(&document, Record::default());
        fs::write(paths.record(), serde_json::to_vec(&record)?)?;
        fs::write(paths.applied(), &document.text)?;
        fs::write(paths.under("/etc/hostname"), "host-192-0-2-10\n")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Document)));
        fs::write(&file, "interfaces: [{name: eno1}]\n")?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Document)));
        fs::remove_file(&file)?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::GoneDocument)));
        // The /etc of a deployment before the document has neither its mark nor its profiles: there, nothing was removed.
        let uuid = "0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001".to_owned();
        let profile = Active { uuid, device: "br-ex".to_owned(), kind: "ovs-bridge".to_owned() };
        let mut record = record;
        let committed = record.committed.as_mut().ok_or("no commit")?;
        committed.uplinks = Some(Uplinks { profiles: vec![profile], ..Uplinks::default() });
        fs::write(paths.record(), serde_json::to_vec(&record)?)?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::GoneDocument)));
        fs::remove_file(paths.applied())?;
        assert!(matches!(owner(&paths).await, Ok(BridgeOwner::Automatic)));
        Ok(())
    }
}

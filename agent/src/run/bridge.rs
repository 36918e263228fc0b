//! The automatic br-ex of a node without a document.

use std::time::Duration;

use nmgen::chain;
use tokio::sync::watch;

use super::{
    Caller, Ended, Run, fault_of, last_good::removed, marks, no_bridge, peers, recover, refused,
    signals::stoppable,
};
use crate::{
    client::dbus::start_unit,
    document,
    durable::record::Record,
    error::Error,
    network::NetworkError,
    paths::Paths,
    settings::OnFailure,
    status::{Bridge, Fault, StatusFile, Success, log::message_id, phase::Phase},
    transaction::{BridgeChange, Change},
};

/// Tries once, under the lock. The boot waits for a service's attempt.
pub(crate) async fn attempt(paths: &Paths, stop: &watch::Receiver<bool>, caller: Caller) -> Ended {
    if !peers::is_ovn_kubernetes(paths) {
        no_bridge("the cluster's network is not OVN-Kubernetes: br-ex is not needed");
        return Ended::Good;
    }
    let run = match Run::begin(paths, "bridge", stop).await {
        Ok(run) => run,
        Err(error) => return Ended::Failed(error),
    };
    if caller == Caller::Person {
        return Box::pin(attempt_of(&run, caller)).await;
    }
    let cut_off = marks::attempt_begins(&paths.bridge_cut_off());
    let most = run.settings.max_attempts;
    let ended = match most != 0 && cut_off >= most {
        true => leave_to_others(&run, cut_off).await,
        false => Box::pin(attempt_of(&run, caller)).await,
    };
    marks::attempt_ends(&paths.bridge_cut_off());
    ended
}

/// Leaves br-ex to configure-ovs.sh: the agent has ended in each attempt, and would for ever.
async fn leave_to_others(run: &Run<'_>, cut_off: u32) -> Ended {
    run.status.update(|s| s.bridge = Some(Bridge::default()));
    // The recovery may be where the agent ended.
    if cut_off == run.settings.max_attempts
        && let Err(error) = recover::online(run).await
    {
        run.warn(&format!("the last attempt is not undone: {}", chain(&error)));
    }
    let error = Error::CutOff { count: cut_off };
    run.failed(&error);
    give_up(run).await;
    let text = "br-ex was NOT made; the boot goes on: configure-ovs makes it";
    run.goes_on(&error, message_id::BRIDGE_GOES_ON, text.to_owned());
    Ended::GoesOn(error)
}

/// Gives br-ex to configure-ovs.sh. Its unit may have had its turn: the first crash ends the start of dayone-bridge.service, and
/// the mark kept that unit back. Started again, it waits for this service's readiness, and kubelet for it.
async fn give_up(run: &Run<'_>) {
    marks::leaves_bridge(run.paths);
    if run.paths.is_system()
        && let Err(error) = start_unit("ovs-configuration.service").await
    {
        run.warn(&format!("configure-ovs is not started: {}", chain(&error)));
    }
    marks::bridge_decided(run.paths);
}

/// Tries once.
async fn attempt_of(run: &Run<'_>, caller: Caller) -> Ended {
    let (paths, decides) = (run.paths, caller == Caller::Service);
    // Where br-ex is a document's, a start after a crash is skipped, and nobody would take the mark away.
    if decides && !paths.bridge_of_document().exists() {
        marks::bridge_undecided(paths);
    }
    let replaces_document = match Box::pin(owner(paths)).await {
        Ok(Owner::Automatic) => false,
        Ok(Owner::GoneDocument) => true,
        Ok(Owner::Document) => {
            peers::stand_in(paths).await;
            marks::bridge_decided(paths);
            no_bridge("br-ex belongs to this node's document");
            return Ended::Good;
        }
        Ok(Owner::Others) => {
            marks::without_bridge(paths);
            no_bridge(
                "br-ex is left to other tools: this node has a document, and dayone.service is disabled",
            );
            return Ended::Good;
        }
        Err(error) => {
            refused(&error);
            return Ended::Failed(error);
        }
    };
    let hostname = StatusFile::load(paths).ok().flatten().unwrap_or_default().hostname;
    run.status.update(|s| {
        s.hostname = hostname;
        s.bridge = Some(Bridge::default());
    });
    let error = match Box::pin(make(run, replaces_document)).await {
        Ok(success) => {
            marks::bridge_made(paths);
            run.succeeded(success);
            return Ended::Good;
        }
        Err(error) => error,
    };
    run.failed(&error);
    let goes_on = run.settings.on_failure == OnFailure::Continue && !run.is_stopped();
    let text = if decides && fault_of(&error) == Fault::NotRecorded {
        marks::bridge_made(paths);
        "br-ex is in force; the boot goes on: the next boot records it"
    } else if decides && replaces_document && is_below_another(&error) {
        // A network that works holds no boot.
        marks::bridge_decided(paths);
        "br-ex of the removed document stays: the automatic one cannot take its place; the boot goes on"
    } else if decides && goes_on {
        give_up(run).await;
        "br-ex was NOT made; the boot goes on: on-failure is \"continue\""
    } else {
        return Ended::Failed(error);
    };
    run.goes_on(&error, message_id::BRIDGE_GOES_ON, text.to_owned());
    Ended::GoesOn(error)
}

fn is_below_another(error: &Error) -> bool {
    matches!(
        error,
        Error::Network(NetworkError::Bridge(error)) | Error::Plan(error) if error.is_below_another()
    )
}

/// Owner of br-ex.
enum Owner {
    /// A document, of the agent or of another tool.
    Document,
    /// A document of the agent, whose file is gone.
    GoneDocument,
    /// Other tools, which applied documents before the agent: this node has one that the agent leaves alone.
    Others,
    /// The agent: no document is in force.
    Automatic,
}

async fn owner(paths: &Paths) -> Result<Owner, Error> {
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await?;
    let document = chosen.document;
    let was_here = || record.committed.is_some() && removed(paths, &record).is_some();
    if document.is_none() && was_here() {
        return Ok(Owner::GoneDocument);
    }
    if paths.in_force().exists() || paths.applied().exists() {
        return Ok(Owner::Document);
    }
    match document {
        Some(_) if marks::is_undecided(paths) => Err(Error::DocumentFirst),
        Some(_) if !marks::is_agent_enabled(paths) => Ok(Owner::Others),
        Some(_) | None => Ok(Owner::Automatic),
    }
}

/// Makes br-ex, unless it is there.
async fn make(run: &Run<'_>, replaces_document: bool) -> Result<Success, Error> {
    recover::online(run).await?;
    peers::stand_in(run.paths).await;
    let network = run.connect().await?;
    let say = |text: &str, bound| run.progress.say(text, bound);
    let start = run.progress.enter(Phase::SelectUplink, run.settings.wait.uplink.get());
    let planned = stoppable(&run.stop, network.plan_bridge(&run.settings, &say)).await;
    run.progress.leave(Phase::SelectUplink, start, planned.is_ok());
    let plan = planned?;
    // Open vSwitch is up by now, if it was not.
    peers::stand_in(run.paths).await;
    let reason = format!("br-ex on {}: {}", plan.uplink.link, plan.uplink);
    tracing::info!("{reason}");
    for loss in &plan.losses {
        tracing::warn!("{loss}");
    }
    run.status.update(|s| {
        s.reason = reason;
        s.bridge = Some(Bridge::from(&plan));
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
        assert!(matches!(owner(&paths).await, Ok(Owner::Automatic)));
        write("etc/nmstate/openshift/worker-0.yml", "interfaces: []\n")?;
        assert!(matches!(owner(&paths).await, Ok(Owner::Others)));
        write("etc/systemd/system/multi-user.target.wants/dayone.service", "")?;
        assert!(matches!(owner(&paths).await, Ok(Owner::Automatic)));
        write("run/dayone/undecided", "")?;
        assert!(matches!(owner(&paths).await, Err(Error::DocumentFirst)));
        write("etc/nmstate/openshift/applied", "interfaces: []\n")?;
        assert!(matches!(owner(&paths).await, Ok(Owner::Document)));
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
        assert!(matches!(owner(&paths).await, Ok(Owner::Document)));
        fs::write(&file, "interfaces: [{name: eno1}]\n")?;
        assert!(matches!(owner(&paths).await, Ok(Owner::Document)));
        fs::remove_file(&file)?;
        assert!(matches!(owner(&paths).await, Ok(Owner::GoneDocument)));
        // The /etc of a deployment before the document has neither its mark nor its profiles: there, nothing was removed.
        let uuid = "0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001".to_owned();
        let profile = Active { uuid, device: "br-ex".to_owned(), kind: "ovs-bridge".to_owned() };
        let mut record = record;
        let committed = record.committed.as_mut().ok_or("no commit")?;
        committed.uplinks = Some(Uplinks { profiles: vec![profile], ..Uplinks::default() });
        fs::write(paths.record(), serde_json::to_vec(&record)?)?;
        assert!(matches!(owner(&paths).await, Ok(Owner::GoneDocument)));
        fs::remove_file(paths.applied())?;
        assert!(matches!(owner(&paths).await, Ok(Owner::Automatic)));
        Ok(())
    }
}

//! `dayone bridge`: the automatic br-ex of a node without a document.

use tokio::sync::watch;

use super::{
    attempt::Ended,
    marks, outcome, peers, recover,
    signals::{Signals, stoppable},
    turn::Turn,
};
use crate::{
    document,
    durable::record::Record,
    error::Error,
    network::real::RealNetwork,
    paths::Paths,
    settings::{OnFailure, Settings},
    status::{
        Bridge, Fault, StatusFile, Success, log::message_id, phase::Phase, progress::Progress,
    },
    transaction::{BridgeChange, Change, Probed, Transaction},
};

/// One attempt by hand.
pub(crate) async fn bridge(paths: &Paths) -> Result<(), Error> {
    let signals = Signals::listen()?;
    match attempt(paths, &signals.stop, false).await {
        Ended::Good => Ok(()),
        Ended::GoesOn(error) | Ended::Failed(error) => Err(error),
    }
}

/// Tries once, under the lock; `decides` says whether the boot waits for it.
pub(super) async fn attempt(paths: &Paths, stop: &watch::Receiver<bool>, decides: bool) -> Ended {
    if !peers::is_ovn_kubernetes(paths) {
        outcome::no_bridge("the cluster's network is not OVN-Kubernetes: br-ex is not needed");
        return Ended::Good;
    }
    let turn = match Turn::wait(paths, "bridge", stop).await {
        Ok(turn) => turn,
        Err(error) => return Ended::Failed(error),
    };
    if decides {
        marks::bridge_undecided(paths);
    }
    let replaces_document = match Box::pin(owner(paths)).await {
        Ok(Owner::Automatic) => false,
        Ok(Owner::GoneDocument) => true,
        Ok(Owner::Document) => {
            peers::stand_in(paths).await;
            marks::bridge_decided(paths);
            outcome::no_bridge("br-ex belongs to this node's document");
            return Ended::Good;
        }
        Ok(Owner::Others) => {
            marks::without_bridge(paths);
            outcome::no_bridge(
                "br-ex is left to other tools: this node has a document, and dayone.service is disabled",
            );
            return Ended::Good;
        }
        Err(error) => {
            outcome::refused(&error);
            return Ended::Failed(error);
        }
    };
    let (status, progress) = outcome::told(paths);
    let hostname = StatusFile::load(paths).ok().flatten().unwrap_or_default().hostname;
    status.update(|s| {
        s.hostname = hostname;
        s.bridge = Some(Bridge::default());
    });
    let attempt = Attempt {
        paths,
        settings: &turn.settings,
        status: &status,
        progress: &progress,
        stop,
        replaces_document,
    };
    let result = match turn.unusable {
        Some(error) => Err(error.into()),
        None => Box::pin(attempt.make()).await,
    };
    match result {
        Ok(outcome) => {
            marks::bridge_decided(paths);
            outcome::succeeded(&status, &progress, outcome);
            Ended::Good
        }
        Err(error) => {
            outcome::failed(&status, &progress, &error);
            let goes_on = turn.settings.on_failure == OnFailure::Continue && !*stop.borrow();
            let text = if decides && outcome::fault_of(&error) == Fault::NotRecorded {
                marks::bridge_decided(paths);
                "br-ex is in force; the boot goes on: the next boot records it"
            } else if decides && goes_on {
                marks::without_bridge(paths);
                "br-ex was NOT made; the boot goes on: on-failure is \"continue\""
            } else {
                return Ended::Failed(error);
            };
            let text = text.to_owned();
            outcome::goes_on(&status, &progress, &error, message_id::BRIDGE_GOES_ON, text);
            Ended::GoesOn(error)
        }
    }
}

/// Owner of br-ex.
enum Owner {
    /// A document's, of the agent or of another tool.
    Document,
    /// A document's of the agent, whose file is gone.
    GoneDocument,
    /// Of the tools that applied documents before the agent: this node has one that the agent leaves alone.
    Others,
    /// This node has none in force.
    Automatic,
}

async fn owner(paths: &Paths) -> Result<Owner, Error> {
    let document = document::choose(paths, std::time::Duration::ZERO, || {}).await?.document;
    if document.is_none() && Record::load(paths).committed.is_some() {
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

struct Attempt<'a> {
    paths: &'a Paths,
    settings: &'a Settings,
    status: &'a StatusFile,
    progress: &'a Progress,
    stop: &'a watch::Receiver<bool>,
    replaces_document: bool,
}

impl Attempt<'_> {
    /// Makes br-ex, unless it is there.
    async fn make(&self) -> Result<Success, Error> {
        let (paths, settings, progress) = (self.paths, self.settings, self.progress);
        recover::online(paths, settings, progress, self.stop.clone()).await?;
        peers::stand_in(paths).await;
        let network = RealNetwork::connect(paths, &settings.wait).await?;
        let say = |text: &str, bound| progress.say(text, bound);
        let start = progress.enter(Phase::SelectUplink, settings.wait.uplink.get());
        let planned = stoppable(self.stop, network.plan_bridge(settings, &say)).await;
        progress.leave(Phase::SelectUplink, start, planned.is_ok());
        let plan = planned?;
        // Open vSwitch is up by now, if it was not.
        peers::stand_in(paths).await;
        let reason = format!("br-ex on {}: {}", plan.uplink.link, plan.uplink);
        tracing::info!("{reason}");
        for loss in &plan.losses {
            tracing::warn!("{loss}");
        }
        self.status.update(|s| {
            s.reason = reason;
            s.bridge = Some(Bridge::from(&plan));
        });
        let replaces_document = self.replaces_document;
        if !replaces_document
            && plan.remove.profiles.is_empty()
            && plan.remove.bridges.is_empty()
            && network.lacking(&plan).await?.is_empty()
        {
            return Ok(Success::Unchanged);
        }
        let stop = self.stop.clone();
        let transaction = Transaction { network: &network, paths, settings, progress, stop };
        let mut probed = Probed::default();
        let change = Change::Bridge(BridgeChange { plan: &plan, replaces_document });
        let result = transaction.run(&change, &mut probed).await;
        self.status.update(|s| {
            s.probes_before.clone_from(&probed.before);
            s.probes_after.clone_from(&probed.after);
        });
        result?;
        Ok(Success::Committed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
}

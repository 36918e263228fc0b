//! The change, from the checkpoint to NetworkManager's commit.

use super::{
    Change, DocumentChange, Probed, Transaction,
    bounds::GRACE,
    failure::{PhaseError, Phased},
    prepare::Prepared,
};
use crate::{
    bridge::plan::BridgePlan,
    document::service_files::ServiceFile,
    model::{Before, Checkpoint, Family, LinkRef, ProbeResult, Uplinks, Wants},
    network::{Network, NetworkError, takeover::Leftovers},
    probe,
    status::{log::message_id, phase::Phase, trial::TrialFile},
    warn::OrWarn as _,
};

impl<N: Network> Transaction<'_, N> {
    /// Changes the network under a checkpoint, and proves it.
    pub(super) async fn change(
        &self,
        prepared: &Prepared,
        change: &Change<'_>,
        probed: &mut Probed,
    ) -> Phased<Uplinks> {
        let Prepared { wants, before, plan, .. } = prepared;
        let t = &self.settings.timeout;
        match change {
            Change::Document(change) | Change::Trial(change, _) => {
                self.apply_document(prepared, change).await?;
            }
            Change::Bridge(change) => self.apply_bridge(prepared, change.plan).await?,
        }
        self.network.activate_above(before, wants).await;
        let decisive = probe::decisive(plan, &probed.best, &leads(change, wants, before));
        let bound = t.probe.get();
        self.phase(Phase::Probe, bound + GRACE, async {
            probed.after = self.network.probe(&decisive, bound).await;
            for probe in &probed.after {
                if let Some(warning) = &probe.warning {
                    tracing::warn!("{}: {warning}", probe.name);
                }
            }
            let failed: Vec<ProbeResult> = probed.after.iter().filter(|r| !r.ok).cloned().collect();
            if failed.is_empty() { Ok(()) } else { Err(PhaseError::Probes(failed)) }
        })
        .await?;
        if let Change::Trial(_, trial) = change {
            self.confirmed(trial).await?;
        }
        let doubts = self.network.doubts(before, wants).await;
        for doubt in doubts.or_warn_of("the changed network is not looked at").into_iter().flatten()
        {
            probed.warn(doubt);
        }
        // The bridge's families were awaited when it was planned.
        let none = Wants { dynamic: Vec::new(), ..wants.clone() };
        let wants = if matches!(change, Change::Bridge(_)) { &none } else { wants };
        self.phase(Phase::Commit, t.checkpoint.get(), async {
            let uplinks = self.network.uplinks(wants).await?;
            self.network.commit(before).await?;
            Ok::<_, NetworkError>(uplinks)
        })
        .await
    }

    /// Applies the document by nmstate, and verifies the result.
    async fn apply_document(&self, prepared: &Prepared, change: &DocumentChange<'_>) -> Phased<()> {
        let Prepared { desired, wants, before, leftovers, timeout: t, .. } = prepared;
        let mut held = None;
        if !leftovers.is_empty() {
            held = Some(self.checkpoint(before).await?);
            self.take_over(leftovers).await?;
        }
        for file in &change.service_files.due {
            let applied = self.service_file(file, before, held.take());
            self.phase(Phase::Apply, t.apply.get(), applied).await?;
        }
        let full = change.previous.map(|p| desired.replacing(p, &before.ovs_settings));
        let full = full.as_ref().unwrap_or(desired);
        self.phase(Phase::Apply, t.apply.get(), self.network.apply(full, before, held.as_ref()))
            .await?;
        let bound = t.verify.get();
        self.phase(Phase::Verify, bound + GRACE, async {
            self.network.verify(full, wants, bound).await?;
            self.network.return_patch_ports(before, &wants.bridges).await
        })
        .await
    }

    /// Makes and activates the profiles of the automatic bridge under one checkpoint, and verifies
    /// the result.
    async fn apply_bridge(&self, prepared: &Prepared, profiles: &BridgePlan) -> Phased<()> {
        let Prepared { desired, wants, before, leftovers, .. } = prepared;
        let t = &self.settings.timeout;
        self.checkpoint(before).await?;
        if !leftovers.is_empty() {
            self.take_over(leftovers).await?;
        }
        let bound = t.apply.get();
        let applied = self.network.apply_profiles(profiles, bound);
        self.phase(Phase::ApplyProfiles, bound + GRACE, applied).await?;
        let bound = t.verify.get();
        self.phase(Phase::Verify, bound + GRACE, async {
            self.network.verify(desired, wants, bound).await?;
            self.network.verify_profiles(profiles, bound).await?;
            self.network.return_patch_ports(before, &wants.bridges).await
        })
        .await
    }

    /// Starts the trial's clock and returns when the trial is confirmed. NetworkManager's checkpoint
    /// stays open meanwhile, with a later end.
    async fn confirmed(&self, trial: &TrialFile) -> Phased<()> {
        let bound = trial.start_clock();
        let on_trial = trial.get();
        tracing::warn!(
            message_id = message_id::TRIAL_WAITS,
            dayone_document = %on_trial.document.display(),
            dayone_digest = %on_trial.digest,
            "{} is on trial: `dayone confirm` keeps it, else the old network returns in {} s",
            on_trial.document.display(),
            on_trial.seconds
        );
        self.phase(Phase::Confirm, bound + GRACE, async {
            match tokio::time::timeout(bound, trial.requested()).await {
                Ok(requested) => requested.map_err(PhaseError::Request),
                Err(_) => Err(PhaseError::NotConfirmed { seconds: on_trial.seconds }),
            }
        })
        .await
    }

    async fn checkpoint(&self, before: &Before) -> Phased<Checkpoint> {
        let bound = self.settings.timeout.checkpoint.get();
        let created = self.network.checkpoint(before.checkpoint_seconds);
        self.phase(Phase::Checkpoint, bound, created).await
    }

    async fn take_over(&self, leftovers: &Leftovers) -> Phased<()> {
        let bound = self.settings.timeout.take_over.get();
        self.phase(Phase::TakeOver, bound, self.network.take_over(leftovers)).await
    }

    /// Applies a file of `nmstatectl service`. Its result is verified with the document, which may
    /// move it to another interface.
    async fn service_file(
        &self,
        file: &ServiceFile,
        before: &Before,
        held: Option<Checkpoint>,
    ) -> Result<(), PhaseError> {
        let work = async {
            let current = match file.parsed.needs_current() {
                true => Some(self.network.current().await?),
                false => None,
            };
            let state = self.network.resolve_links(file.parsed.resolve(current.as_ref())?).await?;
            self.network.apply(&state, before, held.as_ref()).await?;
            // NetworkManager allows one checkpoint at a time; the journal protects from here on.
            self.network.commit(before).await?;
            Ok::<_, PhaseError>(())
        };
        let path = file.path.clone();
        work.await.map_err(|e| PhaseError::ServiceFile { path, source: Box::new(e) })
    }
}

/// Links that may get a default route from the network. The automatic bridge takes over that of its uplink. Where bridges existed
/// before, the list is empty, so any gateway is asked: the former uplink may be the way out again.
fn leads(change: &Change<'_>, wants: &Wants, before: &Before) -> Vec<(Family, LinkRef)> {
    match change {
        Change::Document(_) | Change::Trial(..) => wants.leads(),
        Change::Bridge(_) if !before.bridges.is_empty() => Vec::new(),
        Change::Bridge(_) => {
            let links: Vec<LinkRef> = wants.links.iter().cloned().map(LinkRef::Name).collect();
            probe::of_both_families(&links)
        }
    }
}

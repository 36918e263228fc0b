//! The change, from the checkpoint to NetworkManager's commit.

use super::{
    Probed, Transaction,
    bounds::GRACE,
    failure::{PhaseError, Phased},
    prepare::Prepared,
};
use crate::{
    network::Network,
    probe::{self, ProbeResult},
    state::State,
    status::phase::Phase,
};

impl<N: Network> Transaction<'_, N> {
    /// Changes the network under a checkpoint, and proves it.
    pub(super) async fn change(
        &self,
        prepared: &Prepared,
        previous: Option<&State>,
        probed: &mut Probed,
    ) -> Phased<()> {
        let Prepared { desired, wants, before, leftovers, plan, commit: _ } = prepared;
        let t = &self.settings.timeout;
        let seconds = before.checkpoint_seconds;
        let mut held = None;
        if !leftovers.is_empty() {
            let bound = t.checkpoint.get();
            let checkpoint =
                self.phase(Phase::Checkpoint, bound, self.network.checkpoint(seconds)).await?;
            held = Some(checkpoint);
            self.phase(Phase::TakeOver, t.take_over.get(), self.network.take_over(leftovers))
                .await?;
        }
        let full = previous.map(|p| desired.replacing(p));
        let full = full.as_ref().unwrap_or(desired);
        self.phase(
            Phase::Apply,
            t.apply.get(),
            self.network.apply(full, before, held.as_ref(), seconds),
        )
        .await?;
        let bound = t.verify.get();
        self.phase(Phase::Verify, bound + GRACE, async {
            self.network.verify(full, wants, before, bound).await?;
            self.network.return_patch_ports(before, &wants.bridges).await
        })
        .await?;
        let decisive: Vec<_> = probe::decisive(plan, &probed.before).into_iter().cloned().collect();
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
        self.phase(Phase::Commit, t.checkpoint.get(), self.network.commit(before)).await
    }
}

//! The change, from the checkpoint to NetworkManager's commit.

use super::{
    Probed, Transaction,
    bounds::GRACE,
    failure::{PhaseError, Phased},
    prepare::Prepared,
};
use crate::{
    client::dbus::Checkpoint,
    document::service_files::{ServiceFile, ServiceFiles},
    network::{Before, Network, NetworkError, uplinks::Uplinks},
    probe::{self, ProbeResult},
    state::State,
    status::phase::Phase,
};

impl<N: Network> Transaction<'_, N> {
    /// Changes the network under a checkpoint, and proves it.
    pub(super) async fn change(
        &self,
        prepared: &Prepared,
        service_files: &ServiceFiles,
        previous: Option<&State>,
        probed: &mut Probed,
    ) -> Phased<Uplinks> {
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
        for file in &service_files.due {
            let applied = self.service_file(file, before, held.take(), seconds);
            self.phase(Phase::Apply, t.apply.get(), applied).await?;
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
        self.phase(Phase::Commit, t.checkpoint.get(), async {
            let uplinks = self.network.uplinks(wants).await?;
            self.network.commit(before).await?;
            Ok::<_, NetworkError>(uplinks)
        })
        .await
    }

    /// Applies a file of `nmstatectl service`. Its result is verified with the document, which may
    /// move it to another interface.
    async fn service_file(
        &self,
        file: &ServiceFile,
        before: &Before,
        held: Option<Checkpoint>,
        seconds: u32,
    ) -> Result<(), PhaseError> {
        let work = async {
            let current = match file.parsed.needs_current() {
                true => Some(self.network.current().await?),
                false => None,
            };
            let state = self.network.settle(file.parsed.resolve(current.as_ref())?).await?;
            self.network.apply(&state, before, held.as_ref(), seconds).await?;
            // NetworkManager allows one checkpoint at a time; the journal protects from here on.
            self.network.commit(before).await?;
            Ok::<_, PhaseError>(())
        };
        let path = file.path.clone();
        work.await.map_err(|e| PhaseError::ServiceFile { path, source: Box::new(e) })
    }
}

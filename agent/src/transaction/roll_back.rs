//! The roll back: layer by layer, then the proof.

use super::{
    Probed, Transaction,
    bounds::GRACE,
    failure::{Failure, PhaseError, Phased},
    prepare::Prepared,
};
use nmgen::chain;

use crate::{
    durable::journal,
    model::{Before, ProbeResult},
    network::{Network, Undone, boot_time, within},
    probe::{self, Probe},
    status::phase::Phase,
    warn::OrWarn as _,
};

impl<N: Network> Transaction<'_, N> {
    /// Undoes an open transaction, keeping the error that caused it.
    pub(super) async fn undo(
        &self,
        prepared: &Prepared,
        probed: &Probed,
        phase: Phase,
        source: PhaseError,
    ) -> Result<(), Failure> {
        let Prepared { before, plan, wants, .. } = prepared;
        let rolled = self.roll_back(before, &wants.bridges, probed, true).await;
        self.remember(|memory| memory.roll_back(&before.leads, rolled.is_ok()));
        match rolled {
            Ok(()) => {
                let source = if let PhaseError::Probes(failed) = source {
                    self.control(plan, failed).await
                } else {
                    source
                };
                Err(Failure::RolledBack { phase, source: Box::new(source) })
            }
            Err((roll_back_phase, roll_back)) => Err(Failure::RollBackFailed {
                phase,
                source: Box::new(source),
                roll_back_phase,
                roll_back: Box::new(roll_back),
            }),
        }
    }

    /// Asks the old network for the answers that the change has lost. Where it has none either, nothing is known of the change.
    async fn control(&self, plan: &[Probe], failed: Vec<ProbeResult>) -> PhaseError {
        let asked = probe::control(plan, &failed);
        if !self.is_remembered || asked.is_empty() || *self.stop.borrow() {
            return PhaseError::Probes(failed);
        }
        let bound = self.settings.timeout.baseline.get();
        let answers = async { Ok::<_, PhaseError>(self.network.probe(&asked, bound).await) };
        let Ok(answers) = self.unstoppable(Phase::Restored, bound + GRACE, answers).await else {
            return PhaseError::Probes(failed);
        };
        let answering = || answers.iter().filter(|answer| answer.ok);
        self.remember(|memory| {
            memory.hear(&answers, boot_time());
            memory.refuse(answering().map(|answer| answer.name.as_str()));
        });
        match failed.iter().all(|probe| answers.iter().any(|a| !a.ok && a.name == probe.name)) {
            true => PhaseError::Unproved(failed),
            false => PhaseError::Probes(failed),
        }
    }

    /// Rolls back, proves that the old network is back, and closes the journal. NetworkManager is
    /// restarted where the old network does not come back: it may keep a device between two states
    /// for good, for example an OVS interface whose ovs-vswitchd died while it was activated. Before
    /// that the files are restored once more: with a device NetworkManager removes its own profile of
    /// it, and with that a restored one of the same file.
    pub(crate) async fn roll_back(
        &self,
        before: &Before,
        bridges: &[String],
        probed: &Probed,
        same_boot: bool,
    ) -> Phased<()> {
        let step = self.settings.timeout.roll_back.get();
        let mut refused = Vec::new();
        let layers = self.layers(before, bridges, same_boot, &mut refused);
        let rolled = self.unstoppable(Phase::RollBack, step * 5 + GRACE, layers).await;
        // The proof runs even if a step failed: the status tells both.
        let mut restored = self.restored(before, &refused, probed).await;
        // A silent gateway is no fault of NetworkManager's.
        if !matches!(restored, Ok(()) | Err((_, PhaseError::Probes(_)))) {
            journal::restore_files(self.paths, same_boot).or_warn_of("roll back");
            let restarted = self.unstoppable(Phase::RollBack, step, self.network.restart()).await;
            match restarted {
                Ok(()) => restored = self.restored(before, &refused, probed).await,
                Err((_, error)) => tracing::warn!("roll back: {}", chain(&error)),
            }
        }
        rolled?;
        restored?;
        let closed = journal::close(self.paths);
        closed.map_err(|e| (Phase::RollBack, PhaseError::File(e)))
    }

    /// Returns when the old network is back, and the gateways that answered before answer again.
    async fn restored(&self, before: &Before, refused: &[String], probed: &Probed) -> Phased<()> {
        let step = self.settings.timeout.roll_back.get();
        let proof = async {
            self.network.restored(before, refused, step).await?;
            let gateways = probe::gateways_of(&probed.before);
            let mut failed = self.network.probe(&gateways, step).await;
            failed.retain(|result: &ProbeResult| !result.ok);
            if !failed.is_empty() {
                return Err(PhaseError::Probes(failed));
            }
            Ok(())
        };
        self.unstoppable(Phase::Restored, step * 2 + GRACE, proof).await
    }

    /// The layers of a roll back. Each is bounded, and its failure does not stop the next: the
    /// files must be restored even if NetworkManager is dead. Devices that NetworkManager refused are no failure: it refuses a
    /// card that is gone, and the proof decides.
    async fn layers(
        &self,
        before: &Before,
        bridges: &[String],
        same_boot: bool,
        refused: &mut Vec<String>,
    ) -> Result<(), PhaseError> {
        let step = self.settings.timeout.roll_back.get();
        let mut errors = Vec::new();
        let undone = within("the checkpoints", step, self.network.undo_checkpoints(before)).await;
        // A NetworkManager that started meanwhile has no checkpoint, and devices as they are now.
        let is_lost = same_boot && matches!(undone, Ok(Undone::NoCheckpoint));
        if let Ok(Undone::Checkpoints { refused: devices }) = &undone {
            refused.clone_from(devices);
        }
        keep(&mut errors, undone.map(|_| ()));
        let files = journal::restore_files(self.paths, same_boot);
        // Before NetworkManager activates the old profiles: it refuses a bridge whose name another
        // profile's bridge has.
        let undone = self.network.undo_bridges(before, bridges);
        keep(&mut errors, within("the bridges", step, undone).await);
        match files {
            Ok(false) => {}
            Ok(true) => {
                let reloaded = self.network.reload_profiles();
                keep(&mut errors, within("the profiles", step, reloaded).await);
            }
            Err(error) => keep(&mut errors, Err(error)),
        }
        if before.reapply || is_lost {
            let reapplied = self.network.reapply_profiles(before);
            keep(&mut errors, within("the devices' profiles", step, reapplied).await);
        }
        let named = self.network.undo_hostname(before);
        keep(&mut errors, within("the host name", step, named).await);
        let count = errors.len();
        match errors.into_iter().next() {
            None => Ok(()),
            Some(source) => Err(PhaseError::RollBackSteps { count, source: Box::new(source) }),
        }
    }
}

fn keep<E: Into<PhaseError>>(errors: &mut Vec<PhaseError>, result: Result<(), E>) {
    if let Err(error) = result {
        let error = error.into();
        tracing::warn!("roll back: {}", chain(&error));
        errors.push(error);
    }
}

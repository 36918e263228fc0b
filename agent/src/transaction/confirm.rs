//! The wait for the confirmation of a document on trial.

use super::{
    Transaction,
    bounds::GRACE,
    failure::{PhaseError, Phased},
};
use crate::{
    network::Network,
    status::{log::message_id, phase::Phase, trial::TrialFile},
};

impl<N: Network> Transaction<'_, N> {
    /// Starts the trial's clock and returns when the trial is confirmed. NetworkManager's checkpoint
    /// stays open meanwhile, with a later end.
    pub(super) async fn confirmed(&self, trial: &TrialFile) -> Phased<()> {
        let bound = trial.start_clock();
        let it = trial.get();
        tracing::warn!(
            message_id = message_id::TRIAL_WAITS,
            dayone_document = %it.document.display(),
            dayone_digest = %it.digest,
            "{} is on trial: `dayone confirm` keeps it, else the old network returns in {} s",
            it.document.display(),
            it.seconds
        );
        self.phase(Phase::Confirm, bound + GRACE, async {
            match tokio::time::timeout(bound, trial.requested()).await {
                Ok(requested) => requested.map_err(PhaseError::Request),
                Err(_) => Err(PhaseError::NotConfirmed { seconds: it.seconds }),
            }
        })
        .await
    }
}

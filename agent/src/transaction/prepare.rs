//! Preparation before the first change: prerequisites, snapshot, journal.

use super::{
    Probed, Transaction,
    bounds::{GRACE, LONG},
    failure::{PhaseError, Phased},
};
use crate::{
    document::{Document, service_files::ServiceFiles},
    durable::{
        commit::Commit,
        journal::{self, Journal},
    },
    network::{Before, Network, NetworkError, takeover::Leftovers},
    probe,
    state::{Parsed, State},
    status::phase::Phase,
    wants::Wants,
};

/// The results of the preparation.
pub(super) struct Prepared {
    pub(super) desired: State,
    pub(super) wants: Wants,
    pub(super) before: Before,
    pub(super) leftovers: Leftovers,
    pub(super) plan: Vec<probe::Probe>,
    pub(super) commit: Commit,
}

impl<N: Network> Transaction<'_, N> {
    pub(super) async fn prepare(
        &self,
        document: &Document,
        parsed: &Parsed,
        service_files: &ServiceFiles,
        probed: &mut Probed,
    ) -> Phased<Prepared> {
        let t = &self.settings.timeout;
        let first = parsed.first_wants(&document.text);
        // Each inner wait has its own bound.
        let say = |text: &str, bound| self.progress.say(text, bound);
        self.phase(Phase::Ready, LONG, self.network.ready(&first, &say)).await?;
        let desired = self
            .phase(Phase::Snapshot, t.snapshot.get(), async {
                let current = match parsed.needs_current() {
                    true => Some(self.network.current().await?),
                    false => None,
                };
                Ok::<_, PhaseError>(self.network.settle(parsed.resolve(current.as_ref())?).await?)
            })
            .await?;
        // After the resolution, since the document's names of links may differ from the kernel's.
        let wants = desired.wants();
        if parsed.needs_current() {
            self.phase(Phase::Ready, LONG, self.network.ready(&wants, &say)).await?;
        }
        let plan =
            probe::plan(&self.settings.probe, &wants.gateways, &wants.name_servers, self.paths);
        let asked = probe::baseline(&plan);
        // In parallel: both are independent, and the probes mostly wait for answers.
        let snapshot = self.phase(Phase::Snapshot, t.snapshot.get(), async {
            let mut before = self.network.snapshot(&wants).await?;
            before.checkpoint_seconds = t.checkpoint_seconds();
            before.reapply = !service_files.due.is_empty();
            let leftovers = self.network.leftovers(&wants, &before).await?;
            Ok::<_, NetworkError>((before, leftovers))
        });
        let baseline = self.phase(Phase::Baseline, t.baseline.get() + GRACE, async {
            Ok::<_, PhaseError>(self.network.probe(&asked, t.baseline.get()).await)
        });
        let ((before, leftovers), answers) = tokio::try_join!(snapshot, baseline)?;
        probed.before = answers;
        let commit = self
            .phase(Phase::Journal, t.snapshot.get(), async {
                let (before, probes) = (before.clone(), probed.before.clone());
                let bridges = wants.bridges.clone();
                let journal = Journal::new(self.paths, document, bridges, before, probes);
                let resolved = desired.to_yaml()?;
                Ok::<_, PhaseError>(journal::open(
                    self.paths,
                    &journal,
                    document,
                    &resolved,
                    &service_files.text(),
                )?)
            })
            .await?;
        Ok(Prepared { desired, wants, before, leftovers, plan, commit })
    }
}

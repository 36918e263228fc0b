//! The transaction: a line of phases over [`Network`], each bounded, and one way back.

use std::{
    future::Future,
    time::{Duration, Instant},
};

use thiserror::Error;
use tokio::sync::watch;

use crate::{
    commit::Commit,
    document::Document,
    durable::FileError,
    journal::{self, Journal},
    network::{Before, Network, NetworkError},
    paths::Paths,
    probe::{self, ProbeResult},
    progress::{Phase, Progress},
    settings::Settings,
    state::{Parsed, State, StateError},
    takeover::Leftovers,
    wants::Wants,
};

/// Why a phase did not succeed.
#[derive(Debug, Error)]
pub(crate) enum PhaseError {
    #[error("took longer than {seconds:.0} s")]
    TimedOut { seconds: f64 },
    #[error("was stopped by a signal")]
    Stopped,
    #[error(transparent)]
    Network(#[from] NetworkError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error("{}", failed_probes(.0))]
    Probes(Vec<ProbeResult>),
}

fn failed_probes(results: &[ProbeResult]) -> String {
    let one = |r: &ProbeResult| format!("probe {} failed: {}", r.name, r.detail);
    results.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// A transaction that was not committed.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    /// Nothing had been changed yet.
    #[error("{phase} failed; nothing was changed")]
    Untouched { phase: Phase, source: Box<PhaseError> },
    /// The old network is back.
    #[error("{phase} failed; rolled back")]
    RolledBack { phase: Phase, source: Box<PhaseError> },
    /// The old network is not back; both errors are kept.
    #[error("{phase} failed, and so did the roll back ({roll_back_phase}: {})", chain(.roll_back))]
    RollBackFailed {
        phase: Phase,
        source: Box<PhaseError>,
        roll_back_phase: Phase,
        roll_back: Box<PhaseError>,
    },
    /// In force and decided so on disk; what could not be written the next start writes.
    #[error("the network is in force, but {phase} failed; the next start finishes it")]
    NotRecorded { phase: Phase, source: Box<PhaseError> },
}

/// An error with its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        // Transparent errors say the same twice.
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

/// What a transaction works with.
pub(crate) struct Transaction<'a, N> {
    pub(crate) network: &'a N,
    pub(crate) paths: &'a Paths,
    pub(crate) settings: &'a Settings,
    pub(crate) progress: &'a Progress,
    /// Turns true on SIGTERM and SIGINT.
    pub(crate) stop: watch::Receiver<bool>,
}

/// Results of the probes, for the status.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probed {
    pub(crate) before: Vec<ProbeResult>,
    pub(crate) after: Vec<ProbeResult>,
}

type Phased<T> = Result<T, (Phase, PhaseError)>;

impl<N: Network> Transaction<'_, N> {
    /// Applies `document`; `previous` is the state of the document that was in force, whose
    /// remains are taken away.
    pub(crate) async fn run(
        &self,
        document: &Document,
        parsed: &Parsed,
        previous: Option<&State>,
        probed: &mut Probed,
    ) -> Result<(), Failure> {
        let untouched = |(phase, source)| Failure::Untouched { phase, source: Box::new(source) };
        let prepared = self.prepare(document, parsed, probed).await.map_err(untouched)?;
        // From here on every way out leads through the roll back or the record.
        let changed = match self.change(&prepared, previous, probed).await {
            // NetworkManager has committed; whether that counts is decided here. A way back is
            // there still: the journal needs no checkpoint.
            Ok(()) => self.step(Phase::Record, || prepared.commit.decide(self.paths)).await,
            failed => failed,
        };
        match changed {
            Ok(()) => self
                .step(Phase::Record, || prepared.commit.finish(self.paths))
                .await
                .map_err(|(phase, e)| Failure::NotRecorded { phase, source: Box::new(e) }),
            Err((phase, source)) => {
                tracing::error!(dayone_phase = %phase, "{phase}: {}", chain(&source));
                self.undo(&prepared.before, &prepared.wants.bridges, probed, phase, source).await
            }
        }
    }

    async fn prepare(
        &self,
        document: &Document,
        parsed: &Parsed,
        probed: &mut Probed,
    ) -> Phased<Prepared> {
        let t = &self.settings.timeout;
        let mut wants = parsed.wants(&document.text);
        // Each wait inside has its own bound.
        let say = |text: &str, bound| self.progress.say(text, bound);
        self.phase(Phase::Ready, LONG, self.network.ready(&wants, &say)).await?;
        let desired = self
            .phase(Phase::Snapshot, t.snapshot.get(), async {
                let current = match parsed.needs_current() {
                    true => Some(self.network.current().await?),
                    false => None,
                };
                Ok::<_, PhaseError>(self.network.settle(parsed.resolve(current.as_ref())?).await?)
            })
            .await?;
        if parsed.needs_current() {
            wants = desired.wants();
            self.phase(Phase::Ready, LONG, self.network.ready(&wants, &say)).await?;
        }
        let plan =
            probe::plan(&self.settings.probe, &wants.gateways, &wants.name_servers, self.paths);
        let asked = probe::baseline(&plan);
        // Neither needs the other, and the probes mostly wait for answers.
        let snapshot = self.phase(Phase::Snapshot, t.snapshot.get(), async {
            let before = self.network.snapshot(&wants).await?;
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
                Ok::<_, PhaseError>(journal::open(self.paths, &journal, document, &resolved)?)
            })
            .await?;
        Ok(Prepared { desired, wants, before, leftovers, plan, commit })
    }

    async fn change(
        &self,
        prepared: &Prepared,
        previous: Option<&State>,
        probed: &mut Probed,
    ) -> Phased<()> {
        let Prepared { desired, wants, before, leftovers, plan, commit: _ } = prepared;
        let t = &self.settings.timeout;
        let whole = [t.take_over, t.apply, t.verify, t.probe, t.checkpoint];
        let whole: Duration = whole.iter().map(|s| s.get()).sum();
        let seconds = u32::try_from(whole.as_secs() + 10).unwrap_or(u32::MAX);
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
        self.phase(Phase::Apply, t.apply.get(), self.network.apply(full, held.as_ref(), seconds))
            .await?;
        let bound = t.verify.get();
        self.phase(Phase::Verify, bound + GRACE, self.network.verify(full, wants, bound)).await?;
        let decisive: Vec<_> = probe::decisive(plan, &probed.before).into_iter().cloned().collect();
        let bound = t.probe.get();
        self.phase(Phase::Probe, bound + GRACE, async {
            probed.after = self.network.probe(&decisive, bound).await;
            let failed: Vec<ProbeResult> = probed.after.iter().filter(|r| !r.ok).cloned().collect();
            if failed.is_empty() { Ok(()) } else { Err(PhaseError::Probes(failed)) }
        })
        .await?;
        self.phase(Phase::Commit, t.checkpoint.get(), self.network.commit(before)).await
    }

    /// A phase that only writes files.
    async fn step(&self, phase: Phase, work: impl FnOnce() -> Result<(), FileError>) -> Phased<()> {
        let start = self.progress.enter(phase, GRACE);
        let result = held(phase, async { work() }).await;
        self.finish(phase, start, result.map_err(PhaseError::File))
    }

    /// Undoes an open transaction, keeping the error that led here.
    async fn undo(
        &self,
        before: &Before,
        bridges: &[String],
        probed: &Probed,
        phase: Phase,
        source: PhaseError,
    ) -> Result<(), Failure> {
        match self.roll_back(before, bridges, probed, true).await {
            Ok(()) => Err(Failure::RolledBack { phase, source: Box::new(source) }),
            Err((roll_back_phase, roll_back)) => Err(Failure::RollBackFailed {
                phase,
                source: Box::new(source),
                roll_back_phase,
                roll_back: Box::new(roll_back),
            }),
        }
    }

    /// Rolls back, proves that the old network is back, and closes the journal.
    pub(crate) async fn roll_back(
        &self,
        before: &Before,
        bridges: &[String],
        probed: &Probed,
        same_boot: bool,
    ) -> Phased<()> {
        let step = self.settings.timeout.roll_back.get();
        let restore = || journal::restore_files(self.paths, same_boot);
        let rolled = self
            .unstoppable(
                Phase::RollBack,
                step * 5,
                self.network.roll_back(before, bridges, &restore, step),
            )
            .await;
        // Whatever the steps said, what counts is whether the old network is there.
        let restored = self
            .unstoppable(Phase::Restored, step * 2 + GRACE, async {
                self.network.restored(before, step).await?;
                let answered = |name: &str| probed.before.iter().any(|b| b.name == name && b.ok);
                let gateway = probe::gateway_in_use();
                if answered(&gateway.name) {
                    let failed: Vec<ProbeResult> = self
                        .network
                        .probe(&[gateway], step)
                        .await
                        .into_iter()
                        .filter(|r| !r.ok)
                        .collect();
                    if !failed.is_empty() {
                        return Err(PhaseError::Probes(failed));
                    }
                }
                Ok(())
            })
            .await;
        rolled?;
        restored?;
        let closed = journal::close(self.paths);
        closed.map_err(|e| (Phase::RollBack, PhaseError::File(e)))
    }

    /// Runs a phase: bounded, stopped by signals.
    async fn phase<T, E: Into<PhaseError>>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Phased<T> {
        let mut stop = self.stop.clone();
        let stopped = async move {
            // A sender that is gone cannot stop anyone any more.
            if stop.wait_for(|stop| *stop).await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let start = self.progress.enter(phase, bound);
        let result = tokio::select! {
            biased;
            () = stopped => Err(PhaseError::Stopped),
            result = bounded(bound, held(phase, work)) => result,
        };
        self.finish(phase, start, result)
    }

    /// Runs a phase of the way back, which no signal stops: systemd's kill is the only bound.
    async fn unstoppable<T, E: Into<PhaseError>>(
        &self,
        phase: Phase,
        bound: Duration,
        work: impl Future<Output = Result<T, E>>,
    ) -> Phased<T> {
        let start = self.progress.enter(phase, bound);
        let result = bounded(bound, held(phase, work)).await;
        self.finish(phase, start, result)
    }

    fn finish<T>(&self, phase: Phase, start: Instant, result: Result<T, PhaseError>) -> Phased<T> {
        self.progress.leave(phase, start, result.is_ok());
        result.map_err(|error| (phase, error))
    }
}

/// Everything that is known before the first change.
struct Prepared {
    desired: State,
    wants: Wants,
    before: Before,
    leftovers: Leftovers,
    plan: Vec<probe::Probe>,
    commit: Commit,
}

/// Phases whose work keeps its own, more telling bounds get this much on top.
const GRACE: Duration = Duration::from_secs(5);

/// Readiness waits for several things, each with its own bound.
const LONG: Duration = Duration::from_secs(600);

async fn bounded<T, E: Into<PhaseError>>(
    bound: Duration,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, PhaseError> {
    match tokio::time::timeout(bound, work).await {
        Ok(result) => result.map_err(Into::into),
        Err(_) => Err(PhaseError::TimedOut { seconds: bound.as_secs_f64() }),
    }
}

/// For the lab's fault injection: `DAYONE_HOLD_AT` names a phase that does its work and then
/// hangs, so that a test can kill the agent right there.
#[cfg(feature = "fault-injection")]
async fn held<T>(phase: Phase, work: impl Future<Output = T>) -> T {
    let done = work.await;
    let name = serde_json::to_string(&phase).unwrap_or_default();
    if std::env::var("DAYONE_HOLD_AT").is_ok_and(|at| name == format!("\"{at}\"")) {
        tracing::warn!(dayone_held = true, "held after {phase}");
        std::future::pending::<()>().await;
    }
    done
}

#[cfg(not(feature = "fault-injection"))]
async fn held<T>(_: Phase, work: impl Future<Output = T>) -> T {
    work.await
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;

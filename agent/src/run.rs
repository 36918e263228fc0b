//! One run that may change the network: under the lock, with one account in the status file, the journal, on the
//! console and to systemd. A document, the automatic bridge, a trial and a return to the last good configuration are
//! all such runs.

mod answers;
pub(crate) mod attempt;
pub(crate) mod bridge;
pub(crate) mod decision;
mod document;
mod fall_back;
mod global_dns;
mod hostname;
pub(crate) mod in_force;
pub(crate) mod last_good;
mod late;
mod machine;
pub(crate) mod marks;
pub(crate) mod mtu_migration;
mod peers;
mod proof;
pub(crate) mod recover;
pub(crate) mod retry;
pub(crate) mod signals;
pub(crate) mod trial;
pub(crate) mod units;

use std::{path::Path, time::Duration};

use nmgen::chain;
use tokio::sync::watch;
use tracing::field;

pub(crate) use self::decision::{AttemptKind, Caller};
use self::{
    decision::{Decision, fault_of},
    signals::stoppable,
};
use crate::{
    error::{Error, Exit, Result},
    lock::{self, Lock},
    model::ProbeResult,
    network::{NetworkError, real::RealNetwork},
    paths::Paths,
    settings::{Settings, Usable},
    status::{
        Fault, Outcome, Status, StatusFile, Success,
        log::{self, Tone, console, message_id},
        now,
        progress::Progress,
    },
    transaction::{Change, Failure, Probed, Transaction},
};

/// A run, from its turn to its end.
pub(crate) struct Run<'a> {
    paths: &'a Paths,
    pub(crate) settings: Settings,
    pub(crate) status: StatusFile,
    pub(crate) progress: Progress,
    /// Turns true on SIGTERM and SIGINT, and for a corrected document.
    stop: watch::Receiver<bool>,
    /// Held until the run is dropped.
    lock: Lock,
}

/// How far an attempt goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// Applies the document; earlier failures are forgotten first.
    Forgiving,
    /// Applies a document that was given up once more: the network has gained a card, an address or a default route since.
    Grown,
    /// Applies the document, unless it was given up.
    Whole,
    /// Proves the present network and applies nothing: this input was refused or given up before.
    ProofAlone,
}

impl<'a> Run<'a> {
    /// Waits for the lock. A setting that cannot be used is a warning: it has its default.
    ///
    /// # Errors
    /// Another run kept the lock, or a signal ended the wait; reported, but not in the status file, which
    /// belongs to the other run.
    pub(crate) async fn begin(
        paths: &'a Paths,
        command: &'static str,
        stop: &watch::Receiver<bool>,
    ) -> Result<Self> {
        let Usable { settings, faults } = Usable::load(paths);
        let taken = lock::take(paths, command, settings.wait.turn.get(), waits);
        let lock = stoppable(stop, taken).await.inspect_err(refused)?;
        let status = StatusFile::new(paths);
        let progress = Progress::new({
            let status = status.clone();
            move |phase, done| {
                status.update(|s| {
                    s.phase = Some(phase);
                    s.phases = done.to_vec();
                });
                status.write();
            }
        });
        let stop = stop.clone();
        let run = Self { paths, settings, status, progress, stop, lock };
        faults.iter().for_each(|fault| run.warn(fault));
        match machine::set_others_aside(&run).await.map_err(Error::from) {
            Ok(()) => Ok(run),
            Err(error) => {
                refused(&error);
                run.finish();
                Err(error)
            }
        }
    }

    /// Ends the run, whose decision is published and told.
    pub(crate) fn finish(self) {
        marks::ended(self.paths);
        // The process may stay for a family that comes late, and is at work no more.
        if matches!(self.status.get().outcome, Outcome::Succeeded(_)) {
            self.lock.unsign();
        }
    }

    /// Tells the units that wait.
    pub(crate) fn publish(&self, decision: Decision) {
        marks::publish(self.paths, decision, self.status.get().document.as_deref());
    }

    fn is_stopped(&self) -> bool {
        *self.stop.borrow()
    }

    /// The clients of the network; NetworkManager may still be down.
    pub(crate) async fn connect(&self) -> Result<RealNetwork<'_>, NetworkError> {
        RealNetwork::connect(self.paths, &self.settings.wait).await
    }

    fn transaction<'n>(&'n self, network: &'n RealNetwork<'n>) -> Transaction<'n, RealNetwork<'n>> {
        let (paths, settings, progress) = (self.paths, &self.settings, &self.progress);
        let stop = self.stop.clone();
        Transaction { network, paths, settings, progress, stop, is_remembered: false }
    }

    /// Carries the change of this run out.
    pub(crate) async fn transact(
        &self,
        network: &RealNetwork<'_>,
        change: &Change<'_>,
    ) -> Result<(), Failure> {
        machine::remember(self.paths).await;
        let mut probed = Probed::default();
        // A trial is somebody's own, who decides about it.
        let is_remembered = !matches!(change, Change::Trial(..));
        let transaction = Transaction { is_remembered, ..self.transaction(network) };
        let result = transaction.run(change, &mut probed).await;
        probed.unproved.retain(|_| result.is_ok());
        self.tell_probes(probed);
        result
    }

    fn tell_probes(&self, probed: Probed) {
        self.status.update(|s| {
            s.probes_before = probed.before;
            s.probes_after = probed.after;
            s.unproved = probed.unproved;
            s.warnings.extend(probed.warnings);
        });
    }

    /// Writes a warning to the journal and the status.
    fn warn(&self, text: &str) {
        tracing::warn!("{text}");
        self.status.update(|s| s.warnings.push(text.to_owned()));
    }

    /// Reports a success; readiness first, so that the boot goes on.
    pub(crate) fn succeeded(&self, success: Success) {
        self.end(Outcome::Succeeded(success), None);
        let s = self.status.get();
        let is_bridge = s.bridge.is_some();
        let (id, text) = match success {
            Success::Committed if is_bridge => (message_id::BRIDGE_COMMITTED, "br-ex is in force"),
            Success::Unchanged if is_bridge => {
                (message_id::BRIDGE_UNCHANGED, "br-ex is in force already, nothing to do")
            }
            Success::Committed => (message_id::COMMITTED, "the network is in force"),
            Success::Unchanged if s.has_returned() => {
                (message_id::UNCHANGED, "in force already, its network came after a failed attempt")
            }
            Success::Unchanged if s.is_repaired() => {
                (message_id::UNCHANGED, "in force already, its profiles were activated again")
            }
            Success::Unchanged => (message_id::UNCHANGED, "in force already, nothing to do"),
            Success::Adopted => (message_id::ADOPTED, "in force by another tool, recorded"),
            Success::Removed => {
                (message_id::REMOVED, "the document in force was removed; its network stays")
            }
            Success::Nothing => (message_id::NOTHING, "nothing to do"),
        };
        let tone = match success {
            Success::Committed | Success::Unchanged | Success::Adopted => Tone::Good,
            Success::Removed => Tone::Bad,
            Success::Nothing => Tone::Plain,
        };
        let text = format!("{text} ({})", s.reason);
        // Readiness first: the boot waits for it.
        self.progress.ready(&text);
        tracing::info!(
            message_id = id,
            dayone_document = %s.document.as_deref().unwrap_or(Path::new("")).display(),
            dayone_digest = s.digest.as_deref().unwrap_or_default(),
            "{text}"
        );
        let probe = |result: &ProbeResult| {
            let verdict = if result.ok { "ok" } else { "FAILED" };
            format!("  {}: {verdict}, {} ({} ms)", result.name, result.detail, result.milliseconds)
        };
        let mut lines = vec![text];
        lines.extend(s.probes_after.iter().map(probe));
        console(tone, &lines);
    }

    /// Reports a failure.
    pub(crate) fn failed(&self, error: &Error) {
        let fault = fault_of(error);
        self.end(Outcome::Failed(fault), Some(error));
        let s = self.status.get();
        let id = match (fault, s.bridge.is_some()) {
            (Fault::RolledBack, true) => message_id::BRIDGE_ROLLED_BACK,
            (Fault::RollBackFailed, true) => message_id::BRIDGE_ROLL_BACK_FAILED,
            (Fault::NotRecorded, _) => message_id::NOT_RECORDED,
            (Fault::Untouched | Fault::GivenUp, true) => message_id::BRIDGE_FAILED,
            (Fault::RolledBack, false) => message_id::ROLLED_BACK,
            (Fault::RollBackFailed, false) => message_id::ROLL_BACK_FAILED,
            (Fault::Untouched | Fault::GivenUp, false) => message_id::FAILED,
        };
        let text = chain(error);
        tracing::error!(
            message_id = id,
            dayone_document = %s.document.as_deref().unwrap_or(Path::new("")).display(),
            dayone_exit = error.exit() as u8,
            "{text}"
        );
        let mut lines = vec![format!("FAILED: {text}")];
        lines.extend(s.last_good);
        console(Tone::Bad, &lines);
    }

    /// Reports a failure with which the boot goes on, for the reason in `text`; repeated at every boot.
    pub(crate) fn goes_on(&self, error: &Error, id: &'static str, text: String) {
        self.progress.ready(&text);
        let document = self.status.get().document;
        tracing::warn!(
            message_id = id,
            dayone_document = document.as_ref().map(|document| field::display(document.display())),
            "{text}; {}",
            chain(error)
        );
        console(Tone::Bad, &[text, "see: dayone status".to_owned()]);
    }

    fn end(&self, outcome: Outcome, error: Option<&Error>) {
        self.status.update(|s| {
            s.phases = self.progress.phases();
            s.finished = Some(now());
            s.outcome = outcome;
            s.exit = Some(error.map_or(Exit::Done, Error::exit) as u8);
            s.error = error.map(|error| chain(error));
        });
        self.status.write();
    }
}

/// Reports the holder of the lock.
pub(crate) fn waits(text: &str) {
    Progress::new(|_, _| {}).notify(text, Duration::ZERO);
    // A terminal has the warning.
    tracing::warn!("{text}");
    if log::is_service() {
        console(Tone::Plain, &[text.to_owned()]);
    }
}

/// Reports a run that did not begin; the status file belongs to another run.
pub(crate) fn refused(error: &Error) {
    tracing::error!(dayone_exit = error.exit() as u8, "{}", chain(error));
    console(Tone::Bad, &[format!("FAILED: {}", chain(error))]);
}

/// Reports a br-ex that is not the agent's affair; the status file is another run's.
fn no_bridge(why: &str) {
    Progress::new(|_, _| {}).ready(why);
    tracing::info!(message_id = message_id::BRIDGE_NOTHING, "{why}");
}

/// Reports the pause of a service after a failure.
fn pauses(paths: &Paths, error: &Error, next: &str) {
    // Read anew: another run may have written the file since.
    if let Ok(Some(earlier)) = StatusFile::load(paths) {
        let status = Status { next: Some(next.to_owned()), ..earlier };
        StatusFile::of(paths, status).write();
    }
    Progress::new(|_, _| {}).notify(&format!("{next}; failed: {}", chain(error)), Duration::ZERO);
    tracing::info!("{next}");
    console(Tone::Plain, &[next.to_owned()]);
}

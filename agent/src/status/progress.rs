//! Progress of a run, reported to systemd, the journal and `status.json`.

use std::{
    cell::RefCell,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use super::{
    log::{self, Tone, console},
    phase::Phase,
};

/// A finished phase.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Done {
    pub(crate) phase: Phase,
    pub(crate) ok: bool,
    pub(crate) milliseconds: f64,
}

/// A stop may take as long as the running phase plus this margin.
const MARGIN: Duration = Duration::from_secs(15);

type OnPhase = Box<dyn Fn(Phase, &[Done])>;

/// Reports progress. The callback writes `status.json` when a phase begins.
pub(crate) struct Progress {
    done: RefCell<Vec<Done>>,
    notify: bool,
    /// Somebody at a terminal reads what it does.
    is_of_a_person: bool,
    /// The wait that a run by hand has told.
    awaited: RefCell<String>,
    on_phase: OnPhase,
}

impl Progress {
    /// Reports to systemd, if it listens, and to `on_phase`.
    pub(crate) fn new(on_phase: impl Fn(Phase, &[Done]) + 'static) -> Self {
        let notify = std::env::var_os("NOTIFY_SOCKET").is_some();
        Self {
            done: RefCell::default(),
            notify,
            is_of_a_person: !log::is_service(),
            awaited: RefCell::default(),
            on_phase: Box::new(on_phase),
        }
    }

    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self { notify: false, is_of_a_person: false, ..Self::new(|_, _| {}) }
    }

    /// A phase begins; it takes at most `bound`.
    pub(crate) fn enter(&self, phase: Phase, bound: Duration) -> Instant {
        self.notify(&phase.to_string(), bound);
        if self.is_of_a_person && phase.is_long() {
            let most = bound.as_secs_f64().ceil();
            console(Tone::Plain, &[format!("{phase} (up to {most:.0} s)")]);
        }
        tracing::debug!(dayone_phase = %phase, "begins");
        (self.on_phase)(phase, &self.done.borrow());
        Instant::now()
    }

    /// The phase that began at `start` ended.
    pub(crate) fn leave(&self, phase: Phase, start: Instant, ok: bool) {
        let milliseconds = start.elapsed().as_secs_f64() * 1000.0;
        tracing::info!(dayone_phase = %phase, ok, milliseconds, "{phase}: {milliseconds:.1} ms");
        self.done.borrow_mut().push(Done { phase, ok, milliseconds });
    }

    /// A wait that takes at most `bound`: for systemd, and once on the terminal of a run by hand.
    pub(crate) fn say(&self, text: &str, bound: Duration) {
        self.notify(text, bound);
        let what = text.split(" (").next().unwrap_or_default();
        // Most waits are over before their first second.
        let has_waited = !text.contains("(0 s of ");
        if has_waited && self.is_of_a_person && *self.awaited.borrow() != what {
            what.clone_into(&mut self.awaited.borrow_mut());
            console(Tone::Plain, &[text.to_owned()]);
        }
    }

    /// Sets the status line of `systemctl status`; the next report follows within `bound`.
    pub(crate) fn notify(&self, text: &str, bound: Duration) {
        if !self.notify {
            return;
        }
        let extend = u32::try_from((bound + MARGIN).as_micros()).unwrap_or(u32::MAX);
        let text = nmgen::printable(text);
        let states = [
            sd_notify::NotifyState::Status(&text),
            sd_notify::NotifyState::ExtendTimeoutUsec(extend),
        ];
        if let Err(error) = sd_notify::notify(&states) {
            tracing::debug!(error = %error, "systemd does not listen");
        }
    }

    /// The boot may go on.
    pub(crate) fn ready(&self, text: &str) {
        if self.notify {
            let text = nmgen::printable(text);
            let states = [sd_notify::NotifyState::Status(&text), sd_notify::NotifyState::Ready];
            if let Err(error) = sd_notify::notify(&states) {
                tracing::warn!(error = %error, "systemd could not be told READY");
            }
        }
    }

    /// All phases so far.
    pub(crate) fn phases(&self) -> Vec<Done> {
        self.done.borrow().clone()
    }
}

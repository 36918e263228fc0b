//! A trial: its account in `/run/dayone/trial.json`, and the request to keep it.
//!
//! Three processes share both. `dayone apply --trial` asks for the trial, dayone-trial.service carries
//! it out and alone decides, `dayone confirm` requests that it stays.

mod error;

use std::{cell::RefCell, path::PathBuf, rc::Rc, time::Duration};

use nix::time::ClockId;
use serde::{Deserialize, Serialize};

pub(crate) use self::error::TrialError;
use super::{now, phase::Phase, write_in_runtime};
use crate::{
    client::watch::until,
    document::digest::Digest,
    durable::{self, FileError},
    paths::Paths,
    warn::OrWarn as _,
};

/// How far a trial is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TrialState {
    /// Not begun.
    Asked,
    /// The document is being applied, verified and probed.
    Applying,
    /// It is applied, and the time runs.
    Waiting,
    /// It was confirmed in time, and stays until the next boot.
    Confirmed,
    /// The old network is back.
    Undone,
    /// It failed before any change.
    Failed,
    /// The old network is not back.
    RollBackFailed,
}

impl TrialState {
    /// Whether a process works on it, or has died.
    pub(crate) fn is_on(self) -> bool {
        matches!(self, Self::Applying | Self::Waiting)
    }

    /// Whether nothing more happens by itself.
    pub(crate) fn is_end(self) -> bool {
        !self.is_on() && self != Self::Asked
    }
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Trial {
    pub(crate) state: TrialState,
    /// The caller's file.
    pub(crate) document: PathBuf,
    pub(crate) digest: Digest,
    /// The time for the confirmation.
    pub(crate) seconds: u32,
    /// Milliseconds since 1970; tells one trial from another.
    pub(crate) asked: u64,
    /// The running phase, or the last one.
    pub(crate) phase: Option<Phase>,
    /// The end of the time, in milliseconds of `CLOCK_MONOTONIC`.
    pub(crate) deadline: Option<u64>,
    /// Why it failed or ended.
    pub(crate) reason: Option<String>,
}

impl Trial {
    /// A trial that is asked for now.
    pub(crate) fn new(document: PathBuf, digest: Digest, seconds: u32) -> Self {
        let (state, asked) = (TrialState::Asked, now());
        Self { state, document, digest, seconds, asked, phase: None, deadline: None, reason: None }
    }

    /// The last trial in this boot.
    pub(crate) fn load(paths: &Paths) -> Result<Option<Self>, FileError> {
        durable::read_json_or_set_aside(&paths.trial())
    }

    /// Writes the file, readable for everyone as the status is.
    pub(crate) fn write(&self, paths: &Paths) -> Result<(), FileError> {
        write_in_runtime(&paths.trial(), self)
    }

    /// Seconds until it goes back, while it waits.
    pub(crate) fn left(&self) -> Option<u64> {
        self.left_at(monotonic())
    }

    /// Seconds until it goes back, at this time of its clock.
    pub(crate) fn left_at(&self, now: u64) -> Option<u64> {
        let deadline = self.deadline.filter(|_| self.state == TrialState::Waiting)?;
        Some(deadline.saturating_sub(now).div_ceil(1000))
    }

    pub(crate) fn request(&self, paths: &Paths) -> Result<(), FileError> {
        durable::write(&paths.trial_confirmed(), self.asked.to_string().as_bytes(), 0o600)
    }

    /// Whether this trial is requested to stay; a request may be left from an earlier one.
    fn is_requested(&self, paths: &Paths) -> Result<bool, FileError> {
        let request = durable::read(&paths.trial_confirmed())?;
        Ok(request.is_some_and(|asked| asked == self.asked.to_string().as_bytes()))
    }
}

/// Notes that a run has undone the open trial, if the last one was open.
pub(crate) fn undone(paths: &Paths) {
    let noted = Trial::load(paths).and_then(|trial| {
        let Some(trial) = trial else { return Ok(()) };
        let reason = match trial.state {
            TrialState::Asked | TrialState::Undone | TrialState::Failed => return Ok(()),
            TrialState::Applying | TrialState::Waiting => "its agent was killed".to_owned(),
            TrialState::Confirmed => "a later run of dayone ended it".to_owned(),
            TrialState::RollBackFailed => trial.reason.clone().unwrap_or_default(),
        };
        Trial { state: TrialState::Undone, reason: Some(reason), ..trial }.write(paths)
    });
    noted.or_warn_of(ACCOUNT);
}

/// The clock of deadlines, in milliseconds.
pub(crate) fn monotonic() -> u64 {
    let now = ClockId::CLOCK_MONOTONIC.now().map(Duration::from).unwrap_or_default();
    u64::try_from(now.as_millis()).unwrap_or(u64::MAX)
}

/// What a failure to write it is about.
const ACCOUNT: &str = "the account of the trial";

/// The trial that this process carries out; clones share it.
#[derive(Clone)]
pub(crate) struct TrialFile {
    paths: Paths,
    trial: Rc<RefCell<Trial>>,
}

impl TrialFile {
    /// The account of `trial`, as it is on disk.
    pub(crate) fn new(paths: &Paths, trial: Trial) -> Self {
        Self { paths: paths.clone(), trial: Rc::new(RefCell::new(trial)) }
    }

    /// A copy of the account.
    pub(crate) fn get(&self) -> Trial {
        self.trial.borrow().clone()
    }

    /// Changes the account and writes it. A failure to write is a warning: a trial that cannot be
    /// confirmed goes back.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Trial)) {
        change(&mut self.trial.borrow_mut());
        self.get().write(&self.paths).or_warn_of(ACCOUNT);
    }

    /// Starts the clock, and returns the time for the confirmation.
    pub(crate) fn start_clock(&self) -> Duration {
        let bound = Duration::from_secs(self.get().seconds.into());
        self.update(|trial| {
            trial.state = TrialState::Waiting;
            trial.deadline = Some(monotonic().saturating_add(u64::from(trial.seconds) * 1000));
        });
        bound
    }

    /// Returns when the trial is requested to stay.
    pub(crate) async fn requested(&self) -> Result<(), FileError> {
        let is_requested = || Ok(self.get().is_requested(&self.paths)?.then_some(()));
        until(&self.paths.trial_confirmed(), is_requested).await
    }
}

#[cfg(test)]
mod tests;

//! The account of a node's health, kept between two looks (`doc/health.schema.json`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{
    command::status::GracePeriod,
    error::{Error, Result},
    settings::Health,
};

/// The schema's version.
pub(super) const SCHEMA: u32 = 1;

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct HealthRecord {
    pub(super) schema: u32,
    /// The node's; an account of an older version has none.
    pub(super) hostname: String,
    /// Whether the unit fails.
    pub(super) failed: bool,
    /// The instance of dayone-health@.service.
    pub(super) reason: String,
    /// The words of `dayone status`.
    pub(super) verdict: String,
    pub(super) line: String,
    pub(super) why: String,
    pub(super) document: Option<PathBuf>,
    pub(super) digest: Option<String>,
    /// The first look with this reason, in milliseconds since 1970.
    pub(super) since: u64,
    /// The last look at the network.
    pub(super) looked: u64,
    /// The bound after which the reason is a failure.
    pub(super) patience: GracePeriod,
    /// SHA-256 of what was cheap to see at the look; empty where nothing may be concluded from it.
    pub(super) picture: String,
}

impl HealthRecord {
    /// The account at a time: a state that lasts too long is a failure.
    pub(super) fn aged(mut self, settings: &Health, now: u64) -> Self {
        let lasts = u128::from(now.saturating_sub(self.since));
        self.failed = self.patience.bound(settings).is_some_and(|bound| lasts >= bound.as_millis());
        self
    }

    /// One line.
    pub(super) fn sentence(&self) -> String {
        if self.why.is_empty() { self.line.clone() } else { format!("{}; {}", self.line, self.why) }
    }

    /// An error if the node is not healthy.
    pub(super) fn result(self) -> Result {
        match self.failed {
            true => Err(Error::NotInForce { line: self.line, reason: self.why }),
            false => Ok(()),
        }
    }

    /// The reasons whose units have another state than at the earlier account.
    pub(super) fn reasons_to_look<'a>(&'a self, earlier: Option<&'a Self>) -> Vec<&'a str> {
        let failing = |account: &'a Self| account.failed.then_some(account.reason.as_str());
        let (was, is) = (earlier.and_then(failing), failing(self));
        if was == is { Vec::new() } else { was.into_iter().chain(is).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(reason: &str, patience: GracePeriod, since: u64) -> HealthRecord {
        let reason = reason.to_owned();
        HealthRecord { reason, patience, since, ..HealthRecord::default() }
            .aged(&Health::default(), 700_000)
    }

    #[test]
    fn a_state_fails_at_once_after_its_bound_or_never() {
        for (patience, since, expected) in [
            (GracePeriod::None, 700_000, true),
            (GracePeriod::Run, 700_000, false),
            (GracePeriod::Run, 100_001, false),
            (GracePeriod::Run, 100_000, true),
            // A clock that was set back.
            (GracePeriod::Run, 900_000, false),
            (GracePeriod::Pending, 0, false),
            (GracePeriod::Endless, 0, false),
        ] {
            assert_eq!(account("x", patience, since).failed, expected, "{patience:?} {since}");
        }
    }

    #[test]
    fn a_unit_looks_when_its_reason_comes_or_goes() {
        let healthy = account("in-force", GracePeriod::Endless, 0);
        let drifted = account("drifted", GracePeriod::None, 0);
        let refused = account("refused", GracePeriod::None, 0);
        assert_eq!(healthy.reasons_to_look(None), [""; 0]);
        assert_eq!(drifted.reasons_to_look(None), ["drifted"]);
        assert_eq!(drifted.reasons_to_look(Some(&healthy)), ["drifted"]);
        assert_eq!(drifted.reasons_to_look(Some(&drifted)), [""; 0]);
        assert_eq!(refused.reasons_to_look(Some(&drifted)), ["drifted", "refused"]);
        assert_eq!(healthy.reasons_to_look(Some(&refused)), ["refused"]);
    }
}

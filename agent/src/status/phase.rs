//! The phases of a run.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Phase {
    Select,
    SelectUplink,
    Network,
    Activate,
    Recover,
    Check,
    Ready,
    Snapshot,
    Journal,
    Baseline,
    Checkpoint,
    TakeOver,
    Apply,
    ApplyProfiles,
    Verify,
    Probe,
    Confirm,
    Commit,
    Record,
    RollBack,
    Restored,
    LastGood,
}

impl Phase {
    /// Its name in `status.json`.
    pub(crate) fn name(self) -> String {
        super::word(self)
    }

    /// Returns whether somebody who waits for its end wants to know of it. What another one waits for is told by its second.
    pub(crate) fn is_long(self) -> bool {
        matches!(
            self,
            Self::Activate
                | Self::Recover
                | Self::Baseline
                | Self::Apply
                | Self::ApplyProfiles
                | Self::Verify
                | Self::Probe
                | Self::RollBack
                | Self::Restored
                | Self::LastGood
        )
    }
}

impl std::fmt::Display for Phase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Select => "choosing the document",
            Self::SelectUplink => "choosing the uplink of br-ex",
            Self::Network => "waiting for the network",
            Self::Activate => "activating the document's profiles",
            Self::Recover => "undoing an unfinished transaction",
            Self::Check => "checking the document",
            Self::Ready => "waiting for the document's devices and services",
            Self::Snapshot => "snapshot",
            Self::Journal => "opening the journal",
            Self::Baseline => "probing the old network",
            Self::Checkpoint => "creating a checkpoint",
            Self::TakeOver => "taking over remains of other tools",
            Self::Apply => "applying the document",
            Self::ApplyProfiles => "applying the profiles of br-ex",
            Self::Verify => "verifying the new network",
            Self::Probe => "probing the new network",
            Self::Confirm => "waiting for the confirmation",
            Self::Commit => "committing",
            Self::Record => "recording",
            Self::RollBack => "rolling back",
            Self::Restored => "verifying the old network",
            Self::LastGood => "returning to the last good configuration",
        })
    }
}

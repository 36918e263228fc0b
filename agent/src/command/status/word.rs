//! The words of a verdict that programs read: they never change.

use serde::{Serialize, Serializer};

/// The first words of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    InForce,
    /// A unit that kubelet requires waits for the network.
    Waiting,
    FellBack,
    Pending,
    /// The next boot will refuse the changed document.
    Refused,
    Drifted,
    Removed,
    NoDocument,
    Running,
    Interrupted,
    NotRecorded,
    NotRun,
    NotInForce,
    /// Committed, and the current state is not known.
    Committed,
    Trial,
}

impl Word {
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::InForce => "IN FORCE",
            Self::Waiting => "WAITING",
            Self::FellBack => "FELL BACK",
            Self::Pending => "PENDING",
            Self::Refused => "REFUSED",
            Self::Drifted => "DRIFTED",
            Self::Removed => "REMOVED",
            Self::NoDocument => "NO DOCUMENT",
            Self::Running => "RUNNING",
            Self::Interrupted => "INTERRUPTED",
            Self::NotRecorded => "NOT RECORDED",
            Self::NotRun => "NOT RUN",
            Self::NotInForce => "NOT IN FORCE",
            Self::Committed => "COMMITTED",
            Self::Trial => "TRIAL",
        }
    }
}

impl Serialize for Word {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.text())
    }
}

/// The reason of the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Code {
    OpenVswitchDown,
    #[serde(rename = "networkmanager-down")]
    NetworkManagerDown,
    #[serde(rename = "dbus-down")]
    BusDown,
    /// Differences cannot be told for another reason.
    Unreadable,
    /// The network of now lacks parts of the document.
    NetworkDiffers,
    /// A saved profile lacks them: the next activation takes them away.
    SavedProfileDiffers,
    GatewaySilent,
    /// A unit of the agent is disabled or masked.
    Disabled,
    /// The file is another one than at this boot's run.
    DocumentChanged,
    DocumentRefused,
    DocumentGone,
    OtherNodesDocuments,
    /// The run of this boot changed nothing, rolled back, failed to do so, or was not made.
    Failed,
    RolledBack,
    RollBackFailed,
    GivenUp,
    NotRecorded,
    NotRun,
    AtWork,
    /// The last good network carries the node, and `on-failure` is `hold`.
    HeldOnPurpose,
    /// The network differs by a change that was made on purpose.
    ChangeAdopted,
    Interrupted,
    OnTrial,
}

//! Errors of a run and their exit codes.

use thiserror::Error;

use crate::{
    bridge::{error::BridgeError, gather::GatherError},
    bundle::BundleError,
    client::dbus::BusError,
    document::DocumentError,
    document::check::CheckError,
    durable::{FileError, record::times},
    lock::LockError,
    network::NetworkError,
    paths::PathError,
    settings::SettingsError,
    state::StateError,
    status::{phase::Phase, trial::TrialError},
    transaction::{Failure, PhaseError},
};

/// Why a run failed.
#[derive(Debug, Error)]
pub(crate) enum Error {
    #[error("the settings cannot be used")]
    Settings(#[from] SettingsError),
    #[error("this node's document cannot be chosen")]
    Document(#[from] DocumentError),
    #[error("the document does not pass the checks; nothing was changed")]
    Check(#[from] CheckError),
    #[error("the state on disk cannot be used")]
    File(#[from] FileError),
    #[error("cannot read the state of the network")]
    Network(#[from] NetworkError),
    #[error("what br-ex depends on cannot be read")]
    Gather(#[from] GatherError),
    #[error("br-ex cannot be planned")]
    Plan(#[from] BridgeError),
    #[error("states cannot be compared")]
    State(#[from] StateError),
    #[error("another run is in progress; nothing was done")]
    Lock(#[from] LockError),
    #[error("cannot watch for changed documents")]
    Inputs(#[source] PathError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("stopped; nothing was changed")]
    Stopped,
    #[error("the runtime cannot be started")]
    Runtime(#[source] std::io::Error),
    #[error("signals cannot be received")]
    Signals(#[source] std::io::Error),
    #[error("the output cannot be written")]
    Output(#[source] std::io::Error),
    #[error(transparent)]
    Given(nmgen::Error),
    #[error(transparent)]
    Transaction(#[from] Failure),
    #[error("cannot undo the unfinished transaction of an earlier run ({phase})")]
    Recover { phase: Phase, source: Box<PhaseError> },
    #[error(
        "this document failed {} and is not tried again until it changes, \
         the network gets a card, an address or a default route, a silent gateway answers, a taken address is free, \
         or `dayone apply --retry` is called; last: {last}", times(*.count)
    )]
    GivenUp { count: u32, last: String },
    #[error(
        "{count} attempts in a row ended with the agent: it was killed, or ended itself (`journalctl -u 'dayone*'` has the cause)"
    )]
    CutOff { count: u32 },
    #[error("this node has a document that is not decided yet: `dayone apply` comes first")]
    DocumentFirst,
    #[error(
        "there is no last good configuration: no document was committed on this node; \
         once the document's file is removed, `dayone bridge` makes an automatic br-ex"
    )]
    NoLastGood,
    #[error(transparent)]
    Trial(#[from] TrialError),
    #[error("the trial cannot be undone")]
    TrialStays(#[source] Box<Self>),
    #[error("nothing was changed")]
    Start(#[source] BusError),
    #[error("{down}: {start} ({why})")]
    Down { down: String, why: String, start: String },
    #[error("the document is in force, and no gateway answers: {why}")]
    Silent { why: String },
    #[error(
        "needs root: documents, profiles and the state of the agent are readable for root alone"
    )]
    NeedsRoot,
    #[error("there are differences")]
    Differs,
    #[error("{text}")]
    OfCollected { text: String, exit: Exit },
    #[error("the collected node cannot be used")]
    Bundle(#[from] BundleError),
    #[error("{failed} of the probes failed")]
    Wire { failed: usize },
    #[error("{line}; {reason}")]
    NotInForce { line: String, reason: String },
}

/// What a run comes to.
pub(crate) type Result<T = (), E = Error> = std::result::Result<T, E>;

/// The exit codes, part of the contract of both programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or nothing to do.
    Done = 0,
    /// Failure on this machine.
    Machine = 1,
    /// The document or the call is wrong.
    Input = 2,
    /// Applied, did not hold, rolled back.
    RolledBack = 3,
    /// The roll back failed.
    RollBackFailed = 4,
}

impl Error {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Settings(SettingsError::Path(_))
            | Self::File(_)
            | Self::Network(_)
            | Self::Gather(_)
            | Self::State(_)
            | Self::Lock(_)
            | Self::Inputs(_)
            | Self::Path(_)
            | Self::Stopped
            | Self::Runtime(_)
            | Self::Signals(_)
            | Self::Output(_)
            | Self::Given(_)
            | Self::DocumentFirst
            | Self::Start(_)
            | Self::Down { .. }
            | Self::Silent { .. }
            | Self::Differs
            | Self::NoLastGood => Exit::Machine,
            Self::Settings(SettingsError::Encoding { .. } | SettingsError::Keys(_))
            | Self::NeedsRoot
            | Self::Check(_) => Exit::Input,
            Self::OfCollected { exit, .. } => *exit,
            Self::Bundle(error) => match error {
                BundleError::Read { .. }
                | BundleError::Unpack { .. }
                | BundleError::Random { .. }
                | BundleError::Encode { .. }
                | BundleError::Compress { .. } => Exit::Machine,
                BundleError::TooLarge { .. }
                | BundleError::Decode { .. }
                | BundleError::Newer { .. }
                | BundleError::Outside { .. }
                | BundleError::TooMany { .. }
                | BundleError::TooManyValues { .. } => Exit::Input,
            },
            Self::Plan(error) if error.is_in_files() => Exit::Input,
            Self::Plan(_) => Exit::Machine,
            Self::Document(error) => match error {
                DocumentError::TooLarge { .. } | DocumentError::Encoding { .. } => Exit::Input,
                DocumentError::Cards(_) | DocumentError::HostName(_) | DocumentError::Path(_) => {
                    Exit::Machine
                }
            },
            Self::Transaction(failure) => match failure {
                Failure::Untouched { .. } | Failure::NotRecorded { .. } => Exit::Machine,
                Failure::RolledBack { .. } => Exit::RolledBack,
                Failure::RollBackFailed { .. } => Exit::RollBackFailed,
            },
            Self::Trial(error) => match error {
                TrialError::Elsewhere => Exit::Input,
                TrialError::BootWaits
                | TrialError::On { .. }
                | TrialError::None
                | TrialError::NotApplied { .. }
                | TrialError::NoAnswer
                | TrialError::NoTurn
                | TrialError::Replaced { .. }
                | TrialError::GoesOn { .. }
                | TrialError::Failed { .. } => Exit::Machine,
                TrialError::Undone { .. } => Exit::RolledBack,
                TrialError::Stays { .. } => Exit::RollBackFailed,
            },
            Self::Recover { .. } | Self::TrialStays(_) => Exit::RollBackFailed,
            Self::GivenUp { .. }
            | Self::CutOff { .. }
            | Self::NotInForce { .. }
            | Self::Wire { .. } => Exit::RolledBack,
        }
    }
}

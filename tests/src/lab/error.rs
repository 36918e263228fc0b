//! Errors of the lab itself, one variant per operation.

use std::{error::Error as _, fmt, io, path::PathBuf, time::Duration};

/// A failure of the lab, or of a wait in a case.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The lab cannot run here.
    #[error("the lab cannot run: {0} (LAB=off goes without it)")]
    Unavailable(String),
    /// Another process kept the lab for too long.
    #[error("another process held the lab for {} s", .0.as_secs())]
    Busy(Duration),
    /// A file or directory operation.
    #[error("{operation} {}", path.display())]
    File {
        /// The operation, such as "write".
        operation: &'static str,
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A program could not be started.
    #[error("start {program}")]
    Spawn {
        /// The program.
        program: String,
        /// The cause.
        source: io::Error,
    },
    /// A program ran and failed.
    #[error("`{command}` failed with {status}\n{stderr}")]
    Failed {
        /// The command line.
        command: String,
        /// Its exit status.
        status: String,
        /// Its message.
        stderr: String,
    },
    /// A wait reached its limit.
    #[error("waited {:.1} s in vain for {what}", after.as_secs_f32())]
    Timeout {
        /// The awaited event.
        what: String,
        /// The limit.
        after: Duration,
    },
    /// The container ended while it was needed.
    #[error("the node's container ended ({status})\n{console}")]
    ContainerEnded {
        /// Exit status of systemd-nspawn.
        status: String,
        /// The end of its console.
        console: String,
    },
    /// An action that needs a running node.
    #[error("the node is not running")]
    NotRunning,
    /// An action that needs a card.
    #[error("the machine has no card {0}")]
    NoCard(String),
    /// An action that needs a guarded card.
    #[error("the card {0} has no authenticator")]
    NotGuarded(String),
    /// An action that virtual machines do not support.
    #[error("only a container's processes are processes of the host")]
    OnlyInContainers,
    /// QEMU or the guest agent refused a command.
    #[error("{command}: {problem}")]
    Qemu {
        /// The command.
        command: String,
        /// Its message.
        problem: String,
    },
    /// The authenticator of a port refused a command.
    #[error("hostapd: {command}: {problem}")]
    Authenticator {
        /// The command.
        command: String,
        /// Its answer.
        problem: String,
    },
    /// The virtual machine ended while it was needed.
    #[error("the virtual machine ended ({status})\n{console}")]
    MachineEnded {
        /// Exit status of QEMU.
        status: String,
        /// The end of its console.
        console: String,
    },
    /// A network namespace could not be entered.
    #[error("enter the network namespace {name}")]
    Namespace {
        /// Name of the namespace.
        name: String,
        /// The cause.
        source: io::Error,
    },
    /// The peer's listener.
    #[error("listen on port {port} in the peer")]
    Listen {
        /// TCP port.
        port: u16,
        /// The cause.
        source: io::Error,
    },
    /// A process could not be signalled.
    #[error("send {signal} to process {pid}")]
    Signal {
        /// Name of the signal.
        signal: &'static str,
        /// The process.
        pid: i32,
        /// The cause.
        source: io::Error,
    },
    /// A program's output could not be parsed.
    #[error("cannot read the output of {program}: {problem}")]
    Output {
        /// The program.
        program: &'static str,
        /// The fault in it.
        problem: String,
    },
    /// A case left something behind.
    #[error("left behind: {}", .0.join(", "))]
    Leftovers(Vec<String>),
}

/// Result of the lab's operations.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    pub(crate) fn file(
        operation: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { operation, path, source }
    }
}

/// The chain of messages in plain text: the test harness prints it for a returned error.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        self.source().map_or(Ok(()), |source| write!(f, ": {source}"))
    }
}

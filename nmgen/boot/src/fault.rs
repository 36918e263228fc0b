//! Errors of the initramfs stage.

use std::io;
use std::path::PathBuf;

use nmgen_document::diagnostic::{Diagnostic, Diagnostics};
use nmgen_document::error::Error;
use nmgen_document::mac::Mac;
use nmgen_document::size::MAX_HOSTS;

/// One variant for each operation.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{} {found}; {remedy}", path.display())]
    WrongRoot { path: PathBuf, found: &'static str, remedy: &'static str },
    #[error(
        "{}: another host of this machine, or another of its profiles, has {file_name} too",
        path.display()
    )]
    ProfileTwice { path: PathBuf, file_name: String },
    #[error("cannot list the hosts directory {}", path.display())]
    ReadDirectory { path: PathBuf, source: io::Error },
    #[error("there are more than {MAX_HOSTS} documents in {}", path.display())]
    TooMany { path: PathBuf },
    #[error("cannot list the profiles in {}", path.display())]
    ReadProfiles { path: PathBuf, source: io::Error },
    #[error("cannot read {}", path.display())]
    ReadFile { path: PathBuf, source: io::Error },
    #[error("cannot list this machine's network devices")]
    ReadCards { source: io::Error },
    #[error("nmgen.host={name}: no hosts directory")]
    NoDirectory { name: String },
    #[error("nmgen.host={name}: no such document in {}", path.display())]
    UnknownHost { name: String, path: PathBuf },
    #[error(
        "two documents match this machine: {} ({}) and {} ({}); choose one with nmgen.host=",
        files[0].display(), reasons[0], files[1].display(), reasons[1]
    )]
    Ambiguous { files: [PathBuf; 2], reasons: [String; 2] },
    #[error(
        "{address} is in {} and {}, of which one may be for this machine: cluster.yml is not taken; choose one with nmgen.host=",
        files[0].display(), files[1].display()
    )]
    Disqualified { address: String, files: [PathBuf; 2] },
    #[error("{}", told(.0))]
    Document(Diagnostics),
    #[error(
        "{}: {} and {} would both be {} on this machine{}",
        file.display(), twice.first, twice.second, twice.name,
        twice.mac.map(|mac| format!(": both have the MAC address {mac}")).unwrap_or_default()
    )]
    NameTwice { file: PathBuf, twice: Box<Twice> },
    #[error(
        "{}: {interface} is Open vSwitch's, which no initramfs has; the document is for the running system",
        file.display()
    )]
    OpenVSwitch { file: PathBuf, interface: String },
    #[error(
        "{}: {interface} needs wpa_supplicant for 802.1X or MACsec, which this initramfs lacks",
        file.display()
    )]
    NoSupplicant { file: PathBuf, interface: String },
    #[error("{}: none of its network cards appeared within {seconds} s: {cards}", file.display())]
    NoCard { file: PathBuf, seconds: u64, cards: String },
    #[error("cannot remove {}", path.display())]
    Remove { path: PathBuf, source: io::Error },
    #[error("cannot set {}", path.display())]
    Switch { path: PathBuf, source: io::Error },
    #[error("cannot put {interface} back")]
    Release { interface: String, source: io::Error },
    #[error("no root file system is mounted at {}", path.display())]
    NoRoot { path: PathBuf },
    #[error("{} leads out of its file system", path.display())]
    OutsideRoot { path: PathBuf },
    /// A fault of this machine in the rest of nmgen.
    #[error(transparent)]
    Machine(Error),
}

impl Fault {
    /// True when the input is wrong, false when the machine failed.
    pub(crate) fn is_input(&self) -> bool {
        match self {
            Self::ProfileTwice { .. } => true,
            Self::WrongRoot { .. }
            | Self::TooMany { .. }
            | Self::NoDirectory { .. }
            | Self::UnknownHost { .. }
            | Self::Ambiguous { .. }
            | Self::Disqualified { .. }
            | Self::Document(_)
            | Self::OpenVSwitch { .. }
            | Self::NoSupplicant { .. }
            | Self::NameTwice { .. } => true,
            Self::ReadDirectory { .. }
            | Self::ReadProfiles { .. }
            | Self::ReadFile { .. }
            | Self::NoRoot { .. }
            | Self::OutsideRoot { .. }
            | Self::ReadCards { .. }
            | Self::NoCard { .. }
            | Self::Remove { .. }
            | Self::Switch { .. }
            | Self::Release { .. }
            | Self::Machine(_) => false,
        }
    }
}

/// Two interfaces of a document that would get the same name on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Twice {
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) name: String,
    /// The address that both have in the document.
    pub(crate) mac: Option<Mac>,
}

/// The first error, and the number of others.
fn told(diagnostics: &[Diagnostic]) -> String {
    let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|found| found.is_error()).collect();
    let Some(first) = errors.first() else { return "the document cannot be used".to_owned() };
    match errors.len() - 1 {
        0 => first.one_line(),
        more => format!("{} (and {more} more, see `nmgen check`)", first.one_line()),
    }
}

//! Whether this is an initramfs, and whether it needs the network or only the running system does.

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::root::{INITRAMFS, NEEDED, Paths};

/// Ignition's request, which coreos-enable-network answers.
const IGNITION: &str = "/run/ignition/neednet";

/// The reason for this run of the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Need {
    /// The initramfs brings the network up.
    Network,
    /// It does not, but this is the first boot, or `nmgen.persist` asks: the running system gets the
    /// profiles.
    Persist,
}

impl Need {
    /// `None` if `nmgen.persist=` is off. Without any of the unit's triggers nmgen was called by hand,
    /// for the network.
    pub(crate) fn of(paths: &Paths, line: &CommandLine) -> Option<Self> {
        let is_there = |path| paths.under(path).exists();
        if line.needs_network || line.has_network_root || is_there(NEEDED) || is_there(IGNITION) {
            return Some(Self::Network);
        }
        match line.persist {
            Some(true) => Some(Self::Persist),
            Some(false) => None,
            None if line.is_first_boot => Some(Self::Persist),
            None => Some(Self::Network),
        }
    }
}

pub(crate) fn is_initramfs(paths: &Paths) -> bool {
    // A link, whose target need not exist below a tree's root.
    paths.under(INITRAMFS).symlink_metadata().is_ok()
}

/// A running system would keep the initramfs's variants of profiles for good.
///
/// # Errors
/// [`Fault::WrongRoot`].
pub(crate) fn expect_initramfs(paths: &Paths) -> Result<(), Fault> {
    match is_initramfs(paths) {
        true => Ok(()),
        false => Err(Fault::WrongRoot {
            path: paths.under(INITRAMFS),
            found: "is missing, so this is no initramfs",
            remedy: "in a live root --live writes profiles, elsewhere `nmgen generate`",
        }),
    }
}

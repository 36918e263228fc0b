//! Whether the initramfs needs the network, or only the running system does.

use super::command_line::CommandLine;
use super::root::{NEEDED, Paths};

/// Ignition's request, which coreos-enable-network answers.
const IGNITION: &str = "/run/ignition/neednet";

/// The reason for this run of the first step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The initramfs brings the network up.
    Network,
    /// It does not, but this is the first boot, or `nmgen.persist` asks: the running system gets the
    /// profiles.
    Persist,
}

impl Need {
    /// `None` if `nmgen.persist=` is off. Without any of the unit's triggers nmgen was called by hand,
    /// for the network.
    pub(super) fn of(paths: &Paths, line: &CommandLine) -> Option<Self> {
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

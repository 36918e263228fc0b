//! The faults.

use std::{fmt, time::Duration};

use super::node::{CARD, CLOCK};
use crate::lab::{Case, Error, Fault::DropForwarded};

/// Bound on the removal of a file while a node boots.
const FREED: Duration = Duration::from_secs(60);
/// Takes what is left of the disk.
const FILLER: &str = "/var/lab-filler";

/// Something that happens to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing in the node is notified.
    PowerCut,
    /// SIGKILL for all processes of this name.
    Kill(Process),
    /// SIGSTOP for all processes of this name, for a while.
    Stop(Process),
    /// The card's cable is out for a while.
    CableOut,
    /// Nothing beyond the gateway answers for a while, the API included.
    ApiAway,
    /// The card is set down.
    LinkDown,
    /// All addresses of br-ex and of the card are removed.
    AddressesFlushed,
    /// One of the profiles is deleted by NetworkManager; a number that chooses among them.
    ProfileDeleted(u32),
    /// The file of one of the profiles is removed, and NetworkManager not told.
    FileRemoved(u32),
    /// br-ex is deleted in Open vSwitch's database.
    BridgeDeleted,
    /// The disk is full for a while.
    DiskFull,
    /// The clock jumps by these hours.
    ClockJump(i32),
}

/// A process that can be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Process {
    Agent,
    NetworkManager,
    OvsdbServer,
    OvsVswitchd,
    Dbus,
}

impl Process {
    fn name(self) -> &'static str {
        match self {
            Self::Agent => "dayone",
            Self::NetworkManager => "NetworkManager",
            Self::OvsdbServer => "ovsdb-server",
            Self::OvsVswitchd => "ovs-vswitchd",
            Self::Dbus => "dbus-broker",
        }
    }
}

impl Fault {
    /// Whether the network can be gone afterwards although the agent did everything right.
    pub(super) fn damages(self) -> bool {
        match self {
            Self::PowerCut
            | Self::Kill(Process::Agent)
            | Self::Stop(Process::NetworkManager)
            | Self::ApiAway
            | Self::DiskFull
            | Self::ClockJump(_) => false,
            Self::Kill(_)
            | Self::Stop(_)
            | Self::CableOut
            | Self::LinkDown
            | Self::AddressesFlushed
            | Self::ProfileDeleted(_)
            | Self::FileRemoved(_)
            | Self::BridgeDeleted => true,
        }
    }

    /// Whether the profiles can differ from the document's afterwards, until the agent commits again.
    pub(super) fn changes_profiles(self) -> bool {
        matches!(self, Self::ProfileDeleted(_) | Self::FileRemoved(_) | Self::BridgeDeleted)
    }

    /// Whether units of others can fail by it.
    pub(super) fn fails_others(self) -> bool {
        self.damages() || matches!(self, Self::Stop(_) | Self::DiskFull)
    }

    /// Whether it lasts until [`Self::end`].
    pub(super) fn lasts(self) -> bool {
        matches!(self, Self::Stop(_) | Self::CableOut | Self::ApiAway | Self::DiskFull)
    }

    /// Makes it happen to a running node. False: there was nothing that it could hit.
    pub(super) fn begin(self, case: &mut Case<'_>) -> Result<bool, Error> {
        let run = |command: &[&str]| Ok(case.inside()?.run(command)?.status.success());
        let shell = |script: &str| run(&["sh", "-c", script]);
        match self {
            // Ended by the caller, who owns the node.
            Self::PowerCut => Ok(true),
            Self::Kill(process) => run(&["pkill", "--signal", "KILL", "--exact", process.name()]),
            Self::Stop(process) => run(&["pkill", "--signal", "STOP", "--exact", process.name()]),
            Self::CableOut => case.peer().carrier(CARD, false).map(|()| true),
            Self::ApiAway => case.peer_mut().fault(DropForwarded, true).map(|()| true),
            Self::LinkDown => run(&["ip", "link", "set", CARD, "down"]),
            Self::AddressesFlushed => shell(&format!(
                "ip -4 address show scope global | grep -q inet || exit 1; \
                 for link in br-ex {CARD}; do ip address flush dev $link scope global; done; :"
            )),
            Self::ProfileDeleted(number) => {
                shell(&format!("{} timeout 5 nmcli connection delete id \"$id\"", chosen(number)))
            }
            Self::FileRemoved(number) => shell(&format!("{} rm \"$file\"", chosen(number))),
            // ovs-vswitchd may be stopped.
            Self::BridgeDeleted => shell(
                "ovs-vsctl --timeout=5 br-exists br-ex && \
                 ovs-vsctl --timeout=5 --no-wait del-br br-ex",
            ),
            Self::DiskFull => shell(&format!("head -c 1G /dev/zero >{FILLER} && exit 1 || :")),
            Self::ClockJump(hours) => shell(&format!("echo {hours:+}h >{CLOCK}")),
        }
    }

    /// Ends one that lasts; the node may have lost its power since.
    pub(super) fn end(self, case: &mut Case<'_>, is_off: bool) -> Result<(), Error> {
        // Its file outlasts the power cut.
        if self == Self::DiskFull {
            case.inside()?.wait_sh(&format!("rm -f {FILLER}"), FREED)?;
        }
        // And so does the peer's silence.
        if self == Self::ApiAway {
            case.peer_mut().fault(DropForwarded, false)?;
        }
        if let Self::Stop(process) = self
            && !is_off
        {
            case.inside()?.run(&["pkill", "--signal", "CONT", "--exact", process.name()])?;
        }
        if self == Self::CableOut && !is_off {
            case.peer().carrier(CARD, true)?;
        }
        Ok(())
    }
}

/// The profile of this number among those of br-ex, as `$file` and `$id`; volatile ones are the automatic bridge's. The card's own,
/// of which that is made, is nobody's to bring back.
fn chosen(number: u32) -> String {
    format!(
        "set -e; cd /run/NetworkManager/system-connections; \
         [ -e ovs-if-br-ex.nmconnection ] || cd /etc/NetworkManager/system-connections; \
         set -- br-ex*[a-z].nmconnection ovs-*.nmconnection {CARD}*.nmconnection; \
         [ -e ovs-if-br-ex.nmconnection ] || [ -e br-ex-if.nmconnection ]; \
         for file; do [ -e $file ] && set -- \"$@\" $file; shift; done; \
         shift $(({number} % $#)); file=$1; id=$(sed -n 's/^id=//p' $file);"
    )
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PowerCut => f.write_str("power cut"),
            Self::Kill(process) => write!(f, "kill -9 {}", process.name()),
            Self::Stop(process) => write!(f, "{} stopped", process.name()),
            Self::CableOut => f.write_str("cable out"),
            Self::ApiAway => f.write_str("API away"),
            Self::LinkDown => f.write_str("link down"),
            Self::AddressesFlushed => f.write_str("addresses flushed"),
            Self::ProfileDeleted(number) => write!(f, "profile {number} deleted"),
            Self::FileRemoved(number) => write!(f, "file of profile {number} removed"),
            Self::BridgeDeleted => f.write_str("br-ex deleted"),
            Self::DiskFull => f.write_str("disk full"),
            Self::ClockJump(hours) => write!(f, "clock {hours:+} h"),
        }
    }
}

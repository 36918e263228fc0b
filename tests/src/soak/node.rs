//! The kinds of nodes, and their documents.

use std::{fmt, fs, net::Ipv4Addr, path::PathBuf};

use super::{
    life::{OWN_SETTINGS, PREPARED},
    machine::Machine,
};
use crate::{
    dayone::{self, APISERVER, agent, automatic, day_one_dhcp, with_bridge},
    lab::{Nic, Node, Peer, Release},
};

/// The node's card.
pub(super) const CARD: &str = "eno1";
/// A card of another network, its name and address, and the gateway there.
pub(super) const OTHER_CARD: (&str, &str) = ("eno2", "52:54:00:00:01:00");
pub(super) const STORAGE: &str = "storage";
const STORAGE_GATEWAY: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 1);
/// A second gateway of the node's network.
const OTHER_GATEWAY: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// The program that runs what a fault has prepared.
const LIFE: &str = "/usr/local/bin/lab-life";
/// The offset of the agent's clock.
pub(super) const CLOCK: &str = "/run/lab-clock";
/// The library that moves a program's clock, in the node.
const FAKETIME: &str = "/usr/lib/lab-faketime.so";
/// Room for everything that a node writes.
const DISK: &str = "64M";

/// Waits and phases end sooner than on a node, so that a minute has more faults.
const SETTINGS: &str = "\
max-attempts = 0
[wait]
hostname = 10
link = 3
ovsdb = 20
network = 6
uplink = 20
[timeout]
probe = 3
verify = 20
[bridge]
datapath-type = \"netdev\"
";

/// A kind of node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With a document, static or with DHCP.
    Document { dhcp: bool },
    /// With the automatic br-ex.
    Automatic { dhcp: bool },
    /// A node of the field with a document.
    FieldDocument(Release),
    /// A node of the field with the automatic br-ex.
    FieldAutomatic(Release),
}

impl Kind {
    /// The number of kinds.
    pub(super) const ALL: u64 = 6;

    /// The kind of the node with this number: all of them in turn.
    pub(super) fn of(case: u64) -> Self {
        let round = usize::try_from(case / Self::ALL).unwrap_or_default();
        let release = Release::ALL[round % Release::ALL.len()];
        match case % Self::ALL {
            0 => Self::Document { dhcp: false },
            1 => Self::Automatic { dhcp: false },
            2 => Self::FieldDocument(release),
            3 => Self::Document { dhcp: true },
            4 => Self::Automatic { dhcp: true },
            _ => Self::FieldAutomatic(release),
        }
    }

    pub(super) fn has_document(self) -> bool {
        matches!(self, Self::Document { .. } | Self::FieldDocument(_))
    }

    pub(super) fn is_field(self) -> bool {
        matches!(self, Self::FieldDocument(_) | Self::FieldAutomatic(_))
    }

    pub(super) fn is_dhcp(self) -> bool {
        matches!(self, Self::Document { dhcp: true } | Self::Automatic { dhcp: true })
    }

    /// The unit whose run decides about this node's network, and the one before it.
    pub(super) fn units(self) -> &'static [&'static str] {
        match self.has_document() {
            true => &["dayone.service"],
            false => &["dayone-bridge.service", "dayone.service"],
        }
    }

    /// The node, switched off.
    pub(super) fn node(self) -> Node {
        let machine = Machine::default();
        let bare = Node::new(&machine.name())
            .nic(Nic::new(CARD, &machine.mac()))
            .dmi("soak", &machine.uuid())
            .disk(DISK)
            .file(LIFE, PREPARED, 0o755)
            .early(&format!("exec {LIFE}"));
        let node = match self {
            Self::Document { .. } => agent(bare),
            Self::Automatic { .. } => automatic(bare),
            Self::FieldDocument(release) => agent(bare.field(release).ovn_remains()),
            Self::FieldAutomatic(release) => with_bridge(agent(bare.field(release).ovn_remains())),
        };
        let node = node
            .keyfile(CARD, &self.day_one(machine))
            .file("/root/lab-hostname", &machine.name(), 0o644)
            .file(OWN_SETTINGS, SETTINGS, 0o644)
            .file(APISERVER.0, APISERVER.1, 0o644)
            .settings(SETTINGS);
        let node = match self.has_document() {
            true => node.file(&machine.host_file(), &self.text(machine, Document::First), 0o644),
            false => node,
        };
        with_clock(node)
    }

    pub(super) fn peer(self) -> Peer {
        let peer = Peer::new().address("lan", OTHER_GATEWAY.into(), 24).address(
            STORAGE,
            STORAGE_GATEWAY.into(),
            24,
        );
        if self.is_dhcp() { peer.dhcp() } else { peer }
    }

    /// The profile of before any document.
    pub(super) fn day_one(self, machine: Machine) -> String {
        if self.is_dhcp() { day_one_dhcp() } else { machine.day_one() }
    }

    /// The text of a document of this machine.
    pub(super) fn text(self, machine: Machine, document: Document) -> String {
        let mut text = dayone::Document::new();
        if self.is_dhcp() {
            text.ip =
                "  ipv4:\n    enabled: true\n    dhcp: true\n  ipv6:\n    enabled: false\n".into();
            text.rest.clear();
        }
        if document == Document::Refused {
            text.rest =
                dayone::Document::new().with("192.0.2.1\n    next", "192.0.2.254\n    next").rest;
        }
        let mtu = format!("  state: up\n  mtu: {}\n  ipv4:", document.mtu());
        let text = text.text().replace("  state: up\n  ipv4:", &mtu);
        // The OVS interface's MTU: its MAC address comes first.
        let other = format!("  copy-mac-from: {CARD}\n  mtu: {}\n  ipv4:", document.mtu());
        machine.own(&text.replace(&format!("  copy-mac-from: {CARD}\n  ipv4:"), &other))
    }
}

/// The agent's clock can jump, and after a crash it starts sooner than on a node.
fn with_clock(node: Node) -> Node {
    let library = faketime().map_or_else(String::new, |_| {
        format!(
            "Environment=LD_PRELOAD={FAKETIME} FAKETIME_TIMESTAMP_FILE={CLOCK} FAKETIME_NO_CACHE=1 \
             FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_DISABLE_SHM=1\n"
        )
    });
    let node = match faketime() {
        Some(path) => node.bind(path, FAKETIME),
        None => node,
    };
    ["dayone", "dayone-bridge"].iter().fold(node, |node, unit| {
        let drop_in = format!("/etc/systemd/system/{unit}.service.d/50-lab-soak.conf");
        node.file(&drop_in, &format!("[Service]\nRestartSec=1\n{library}"), 0o644)
    })
}

/// The host's library of the same architecture as the node.
fn faketime() -> Option<PathBuf> {
    let directories = fs::read_dir("/usr/lib").ok()?.flatten().map(|entry| entry.path());
    directories
        .map(|directory| directory.join("faketime/libfaketimeMT.so.1"))
        .find(|path| path.exists())
}

/// A document of a node: each interface has its MTU, so that a mixture of two shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Document {
    First,
    Second,
    /// Its gateway does not answer.
    Refused,
}

impl Document {
    /// Documents that hold.
    pub(super) const GOOD: [Self; 2] = [Self::First, Self::Second];

    pub(super) fn mtu(self) -> u16 {
        match self {
            Self::First => 1500,
            Self::Second => 1400,
            Self::Refused => 1300,
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "the first document",
            Self::Second => "the second document",
            Self::Refused => "a document that does not hold",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document { dhcp: false } => f.write_str("document, static"),
            Self::Document { dhcp: true } => f.write_str("document, DHCP"),
            Self::Automatic { dhcp: false } => f.write_str("automatic br-ex, static"),
            Self::Automatic { dhcp: true } => f.write_str("automatic br-ex, DHCP"),
            Self::FieldDocument(release) => write!(f, "field {release}, document"),
            Self::FieldAutomatic(release) => write!(f, "field {release}, automatic br-ex"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_differ_in_the_mtu_of_both_interfaces() {
        for dhcp in [false, true] {
            let kind = Kind::Document { dhcp };
            for (document, mtu) in [(Document::First, "mtu: 1500"), (Document::Second, "mtu: 1400")]
            {
                let text = kind.text(Machine::default(), document);
                assert_eq!(text.matches(mtu).count(), 2, "{text}");
            }
            assert!(kind.text(Machine::default(), Document::Refused).contains("192.0.2.254"));
        }
    }
}

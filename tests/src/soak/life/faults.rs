//! The faults of years.

use super::{
    Action::{
        Cable, Deployment as Etc, EachBoot, Early, Gateway, Machine, Now, OtherCard, Peer,
        Version as Agent,
    },
    Deployment, Ends, Life, Meanwhile, Other, Part, Version,
};
use crate::lab::Fault::{DropDhcp, DropForwarded, DropPing, IgnoreNeighbours};

/// Three attempts take a minute.
const HASTE: &str = "sed -i -e 's/^max-attempts = .*/max-attempts = 3/' -e 's/^network = .*/network = 3/' \
    -e 's/^uplink = .*/uplink = 4/' -e 's/^verify = .*/verify = 12/' /etc/dayone/dayone.toml";
/// Attempts without an end: the network of a node that was given up is asked every five minutes where no event tells that it is
/// back.
const HASTE_WITHOUT_END: &str = "sed -i -e 's/^network = .*/network = 3/' -e 's/^verify = .*/verify = 12/' /etc/dayone/dayone.toml";

/// The file of the interface's profile, or of the card's where br-ex is automatic.
const MOVED: &str = "\
    cd /etc/NetworkManager/system-connections; [ -e br-ex-if.nmconnection ] && it=br-ex-if.nmconnection || it=eno1.nmconnection; \
    sed -i -e '/^address/s/,192.0.2.1$/,192.0.2.2/' -e '/^gateway=/s/192.0.2.1$/192.0.2.2/' -e '/^route/s/,192.0.2.1/,192.0.2.2/' $it";

/// Another card has a default route: before that of every other interface, between those of cards, or behind all.
const OTHER_ROUTE: &str = "\
    cd /etc/NetworkManager/system-connections; set -- 20 101 900; shift $(($n % 3)); \
    printf '[connection]\\nid=storage\\ntype=ethernet\\ninterface-name=eno2\\n[ipv4]\\nmethod=manual\\n\
    address1=203.0.113.50/24\\ngateway=203.0.113.1\\nroute-metric=%s\\n[ipv6]\\nmethod=disabled\\n' $1 >storage.nmconnection; \
    chmod 600 storage.nmconnection";
const NO_OTHER_ROUTE: &str = "rm -f /etc/NetworkManager/system-connections/storage.nmconnection";

/// The uplink's profile, or the interface's, is lost. Without a document nobody could make it again.
const LOST: &str = "\
    [ -n \"$(find /etc/nmstate/openshift -name '*.yml')\" ] || exit 0; \
    cd /etc/NetworkManager/system-connections; \
    case $(($n % 2)) in 0) rm -f eno1.nmconnection;; 1) rm -f br-ex-if.nmconnection;; esac";

/// OSTree copies what is changed in /etc to the /etc of the new deployment: file by file here, so that a power cut leaves each, and
/// so that whoever makes a directory meanwhile makes none in its place.
const MERGED: &str = "\
    for it in nmstate NetworkManager openvswitch; do \
    find /etc/$it -name '*.merged' -delete; \
    find /etc/$it -type f -exec cp -a {} {}.merged \\; -exec mv {}.merged {} \\;; done; \
    echo OSTREE_VERSION=$n >>/usr/lib/os-release";

/// A policy of day two replaces a profile by one with the same settings.
const REPLACED: &str = "\
    cd /etc/NetworkManager/system-connections; for it in br-ex-if eno1; do \
    [ ! -e $it.nmconnection ] || sed -i \"s/^uuid=.*/uuid=$(cat /proc/sys/kernel/random/uuid)/\" $it.nmconnection; done";

/// The agent's units have mount namespaces of their own, into which a container's mounts do not propagate; a real disk that is
/// writable again is so in all of them.
const WRITABLE: &str = "\
    for it in dayone dayone-bridge; do it=$(systemctl show --property=MainPID --value $it.service); \
    [ $it = 0 ] || nsenter --mount=/proc/$it/ns/mnt umount --lazy /var/lib/dayone || :; done; \
    umount --lazy /var/lib/dayone";

const DAMAGED: &str = "\
    set -- $(find /var/lib/dayone -type f | sort); [ $# -gt 0 ] || exit 0; \
    shift $(($n % $#)); cp $1 /root/lab-undamaged; \
    case $(($n / 7 % 5)) in 0) : >$1;; 1) head -c 40 /root/lab-undamaged >$1;; 2) echo '{}' >$1;; 3) printf '[\\0\\377' >$1;; \
    4) sed 's/[a-z]/#/3' /root/lab-undamaged >$1;; esac; echo damaged: $1 >/root/lab-damage";

/// A newer version's keys, a misspelt one, and a value of another kind.
const UNKNOWN: &str = "\
    sed -i -e '1i answer = 42' -e 's/^\\[wait\\]/[wait]\\nlinks = 1\\nhostname = \"soon\"/' /etc/dayone/dayone.toml; \
    printf '[newer]\\nkey = true\\n' >>/etc/dayone/dayone.toml";

/// All of them. Two that come together begin in this order: what brings a whole `/etc` goes before what changes
/// one, and a full disk comes last.
pub(super) const ALL: &[Life] = &[
    Life {
        name: "OS roll back",
        part: Part::Etc,
        meets: |kind| kind.has_document(),
        begin: &[Etc(Deployment::Earlier)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "OS roll back to before any document",
        part: Part::Etc,
        meets: |kind| kind.has_document(),
        begin: &[Etc(Deployment::Bare)],
        meanwhile: Meanwhile::Bare,
        heal: &[Etc(Deployment::Present)],
        ends: Ends::Boot,
    },
    Life {
        name: "OS upgrade",
        part: Part::Etc,
        meets: |_| true,
        begin: &[Early(MERGED)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "profiles replaced by day two",
        part: Part::Etc,
        meets: |kind| kind.has_document(),
        begin: &[Now(REPLACED)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "card replaced",
        part: Part::Machine,
        meets: |_| true,
        begin: &[Machine(Other::Card)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "mainboard replaced",
        part: Part::Machine,
        meets: |_| true,
        begin: &[Machine(Other::Board)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "disk cloned to another machine",
        part: Part::Machine,
        meets: |_| true,
        begin: &[Machine(Other::Machine)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "DHCP away for all attempts",
        part: Part::Network,
        meets: |kind| kind.is_dhcp(),
        begin: &[Now(HASTE), Peer(DropDhcp, true)],
        meanwhile: Meanwhile::Told,
        heal: &[Peer(DropDhcp, false)],
        ends: Ends::Any,
    },
    Life {
        name: "cable out for all attempts",
        part: Part::Network,
        meets: |_| true,
        begin: &[Now(HASTE), Cable(false)],
        meanwhile: Meanwhile::Told,
        heal: &[Cable(true)],
        ends: Ends::Any,
    },
    Life {
        name: "switch silent",
        part: Part::Network,
        meets: |_| true,
        begin: &[
            Now(HASTE_WITHOUT_END),
            Peer(IgnoreNeighbours, true),
            Peer(DropPing, true),
            Peer(DropDhcp, true),
        ],
        meanwhile: Meanwhile::Told,
        heal: &[Peer(IgnoreNeighbours, false), Peer(DropPing, false), Peer(DropDhcp, false)],
        ends: Ends::Any,
    },
    Life {
        name: "gateway moved by day two",
        part: Part::Network,
        meets: |kind| !kind.is_dhcp(),
        begin: &[Now(MOVED), Gateway(false)],
        meanwhile: Meanwhile::Works,
        heal: &[Gateway(true)],
        ends: Ends::Any,
    },
    Life {
        name: "profile lost beside another card's default route",
        part: Part::Network,
        meets: |kind| kind.has_document(),
        begin: &[Early(OTHER_ROUTE), Early(LOST), OtherCard(true)],
        meanwhile: Meanwhile::Works,
        heal: &[Early(NO_OTHER_ROUTE), OtherCard(false)],
        ends: Ends::Boot,
    },
    Life {
        name: "another card with a default route",
        part: Part::Network,
        meets: |_| true,
        begin: &[Early(OTHER_ROUTE), OtherCard(true)],
        meanwhile: Meanwhile::Works,
        heal: &[Early(NO_OTHER_ROUTE), OtherCard(false)],
        ends: Ends::Boot,
    },
    Life {
        name: "API away",
        part: Part::Network,
        // There on-prem-resolv-prepender.service holds kubelet: it asks for its image beyond the gateway.
        meets: |kind| !kind.is_field(),
        begin: &[Peer(DropForwarded, true)],
        meanwhile: Meanwhile::Works,
        heal: &[Peer(DropForwarded, false)],
        ends: Ends::Any,
    },
    Life {
        name: "another name",
        part: Part::Name,
        meets: |_| true,
        begin: &[Now("echo host-192-0-2-10 >/etc/hostname")],
        meanwhile: Meanwhile::Works,
        heal: &[Now("cp /root/lab-hostname /etc/hostname; hostname -F /etc/hostname")],
        ends: Ends::Any,
    },
    Life {
        name: "no name",
        part: Part::Name,
        // There node-valid-hostname.service holds kubelet.
        meets: |kind| !kind.is_field(),
        begin: &[Now("echo localhost >/etc/hostname")],
        meanwhile: Meanwhile::Works,
        heal: &[Now("cp /root/lab-hostname /etc/hostname; hostname -F /etc/hostname")],
        ends: Ends::Any,
    },
    Life {
        name: "unknown settings",
        part: Part::Settings,
        meets: |_| true,
        begin: &[Now(UNKNOWN)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "file of the state damaged",
        part: Part::State,
        meets: |_| true,
        begin: &[Early(DAMAGED)],
        meanwhile: Meanwhile::Works,
        heal: &[],
        ends: Ends::Stays,
    },
    Life {
        name: "disk full",
        part: Part::Disk,
        meets: |_| true,
        begin: &[Now("head -c 1G /dev/zero >/var/lab-filler || :")],
        meanwhile: Meanwhile::Told,
        heal: &[Now("rm -f /var/lab-filler")],
        ends: Ends::Any,
    },
    Life {
        name: "state read-only",
        part: Part::Disk,
        meets: |_| true,
        begin: &[EachBoot(
            "mount -t overlay -o ro,lowerdir=/var/lib/dayone:/lab overlay /var/lib/dayone",
        )],
        meanwhile: Meanwhile::Told,
        heal: &[Now(WRITABLE)],
        ends: Ends::Any,
    },
    Life {
        name: "older version of the agent",
        part: Part::Version,
        meets: |_| true,
        begin: &[Agent(Version::Older)],
        meanwhile: Meanwhile::Works,
        heal: &[Agent(Version::This)],
        ends: Ends::Boot,
    },
];

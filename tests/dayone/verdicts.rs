//! Verdicts of nmstate's `apply()`, with its own verification, and of the agent, on the same node: a document that the library
//! accepts is in force without a difference; one that it refuses is refused or rolled back.

use std::{collections::BTreeMap, time::Duration};

use tests::{
    documents::{self, Document},
    lab::{Error, Inside, Lab, Nic, Node, Peer},
    program,
};

/// Needs an interface type that the host's kernel may lack.
const NO_KIND: &str = "the kernel of a container's host may lack this kind of interface";
/// Needs hardware without a stand-in in containers.
const NO_HARDWARE: &str = "a container has no such card";
/// With the userspace datapath NetworkManager generates a profile for the tap of an OVS interface once the kernel has its
/// addresses, so nmstate's verdict on the IP settings of a bridge's interface depends on timing.
const NO_DATAPATH: &str = "needs the kernel's datapath of Open vSwitch";
/// Needs programs or files beside NetworkManager.
const NO_SERVICE: &str = "needs certificates or a service that the node does not have";

/// Documents excluded from containers, each with the reason.
const LEFT_OUT: [(&str, &str); 37] = [
    ("br-ex-dhcp.yml", NO_DATAPATH),
    ("br-ex-static.yml", NO_DATAPATH),
    ("awkward-text.yml", NO_KIND),
    ("bond-802.3ad.yml", NO_KIND),
    ("bond-active-backup.yml", NO_KIND),
    ("bond-other-modes.yml", NO_KIND),
    ("br-ex-bond.yml", NO_KIND),
    ("defaults.yml", NO_KIND),
    ("hsr.yml", NO_KIND),
    ("identifiers.yml", NO_HARDWARE),
    ("infiniband.yml", NO_HARDWARE),
    ("ip-tunnel.yml", NO_KIND),
    ("ipsec.yml", NO_SERVICE),
    ("ipvlan.yml", NO_KIND),
    ("macsec.yml", NO_KIND),
    ("macvlan.yml", NO_KIND),
    ("nic-settings.yml", NO_HARDWARE),
    ("no-effect.yml", NO_HARDWARE),
    ("ovs-bond.yml", NO_HARDWARE),
    ("veth-dummy.yml", NO_KIND),
    ("vlan-on-bond.yml", NO_KIND),
    ("vrf.yml", NO_KIND),
    ("bond_linuxbridge_vlan_up.yml", NO_KIND),
    ("bond_port_up.yml", NO_KIND),
    ("eth1_with_ieee_802_1x.yml", NO_SERVICE),
    ("eth1_with_sriov.yml", NO_HARDWARE),
    ("hsr0_up.yml", NO_KIND),
    ("infiniband_pkey_ipoib_create.yml", NO_HARDWARE),
    ("ipsec_psk.yml", NO_SERVICE),
    ("ipsec_x509.yml", NO_SERVICE),
    ("ipvlan_create.yml", NO_KIND),
    ("mac_vlan_create.yml", NO_KIND),
    ("mac_vtap_create.yml", NO_KIND),
    ("macsec0_up.yml", NO_KIND),
    ("ovsbridge_dpdk_create.yml", NO_HARDWARE),
    ("vlan101_eth1_up.yml", NO_KIND),
    ("vrf0_with_eth1.yml", NO_KIND),
];

/// No probes, since the library has none; and four seconds to settle.
const SETTINGS: &str = "\
max-attempts = 0
[wait]
link = 1
device-settled = 1
[timeout]
verify = 4
[probe]
gateway = \"off\"
dns = \"off\"
api = \"off\"
";

/// Bound for one document: two applies, and nmstate's own waits for a refused one.
const BOUND: Duration = Duration::from_secs(90);

fn node() -> Node {
    let cards = [
        ("eth1", "52:54:00:12:35:01"),
        ("eth2", "52:54:00:12:35:02"),
        ("enp1s0", "52:54:00:12:34:01"),
        ("enp2s0", "52:54:00:12:34:02"),
        ("enp3s0", "52:54:00:12:34:03"),
        ("enp4s0", "52:54:00:12:34:04"),
    ];
    let node =
        cards.iter().fold(Node::new("worker-0"), |node, (name, mac)| node.nic(Nic::new(name, mac)));
    node.bind(program::dayone(), "/usr/bin/dayone")
        .bind(program::nmstate_apply(), "/usr/local/bin/nmstate-apply")
        .file("/etc/dayone/dayone.toml", SETTINGS, 0o644)
        .file("/root/verdict.sh", include_str!("verdict.sh"), 0o755)
}

/// A line of the script: exit status and last message.
#[derive(Debug)]
struct Verdict {
    exit: i32,
    said: String,
}

fn verdicts(inside: &Inside, text: &str) -> Result<BTreeMap<String, Verdict>, Error> {
    inside.write("/root/input.yml", text)?;
    let output = inside.run_within(&["sh", "-c", "sh /root/verdict.sh </root/input.yml"], BOUND)?;
    let parse = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let name = words.next()?.to_owned();
        let exit = words.next()?.parse().ok()?;
        Some((name, Verdict { exit, said: words.next().unwrap_or_default().to_owned() }))
    };
    Ok(output.stdout.lines().filter_map(parse).collect())
}

/// A disagreement of the two.
fn disagreement(name: &str, verdicts: &BTreeMap<String, Verdict>) -> Option<String> {
    let [Some(nmstate), Some(dayone), Some(diff)] =
        ["nmstate", "dayone", "diff"].map(|key| verdicts.get(key))
    else {
        return Some(format!("{name}: no verdict: {verdicts:?}"));
    };
    let agrees = match nmstate.exit {
        0 => dayone.exit == 0 && diff.said == "# no difference",
        _ => dayone.exit != 0,
    };
    (!agrees).then(|| format!("{name}: {verdicts:#?}"))
}

fn compare(documents: &[Document]) -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    lab.run(node(), &Peer::new().dhcp().router_advertisements(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        let mut disagreements = Vec::new();
        for document in documents {
            let found = verdicts(&inside, &document.text)?;
            disagreements.extend(disagreement(&document.name, &found));
        }
        assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
        Ok(())
    })
}

/// OVS in userspace: a container's host may not have the kernel's datapath.
fn in_userspace(text: &str) -> String {
    if !text.contains("ovs-bridge") {
        return text.to_owned();
    }
    let text = text.replace("datapath: system", "datapath: netdev");
    if text.contains("datapath: netdev") {
        return text;
    }
    let options = "    bridge:\n      options:\n";
    let with = "    bridge:\n      options:\n        datapath: netdev\n";
    if text.contains(options) {
        text.replace(options, with)
    } else {
        text.replace("    bridge:\n", with)
    }
}

/// Documents for containers; every name in the list of exclusions has to exist.
fn carried(all: Vec<Document>) -> Vec<Document> {
    let is_left_out = |name: &str| LEFT_OUT.iter().any(|(left_out, _)| *left_out == name);
    all.into_iter()
        .filter(|document| !is_left_out(&document.name))
        .map(|document| Document { text: in_userspace(&document.text), ..document })
        .collect()
}

fn lenient() -> Vec<Document> {
    include_str!("../fixtures/applied.yml")
        .split("\n--- # ")
        .skip(1)
        .filter_map(|document| document.split_once('\n'))
        .map(|(name, text)| Document { name: name.to_owned(), text: text.to_owned() })
        .collect()
}

#[test]
fn at_least_sixty_documents_are_compared() {
    let all = documents::all();
    for (name, reason) in LEFT_OUT {
        let is_known = all.iter().any(|document| document.name == name);
        assert!(is_known || all.len() < LEFT_OUT.len(), "{name} ({reason}) is gone");
    }
    assert!(carried(all).len() + lenient().len() >= 60);
}

#[test]
fn documents_of_the_fixtures() -> Result<(), Error> {
    compare(&carried(documents::fixtures()))
}

#[test]
fn documents_of_the_corpus() -> Result<(), Error> {
    compare(&carried(documents::corpus()))
}

/// Half of the documents on each of two nodes, side by side.
#[test]
fn documents_that_nmstate_verifies_leniently_first_half() -> Result<(), Error> {
    let all = lenient();
    compare(&all[..all.len() / 2])
}

#[test]
fn documents_that_nmstate_verifies_leniently_second_half() -> Result<(), Error> {
    let all = lenient();
    compare(&all[all.len() / 2..])
}

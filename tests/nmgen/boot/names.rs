//! Every reference to an interface gets the machine's name, and nothing else changes.

use std::collections::BTreeMap;
use std::fs;

use tests::machine::{EARLY, Machine, STAGED};
use tests::{
    keyfile,
    program::{self, Exits as _},
};

const ADDRESSES: [&str; 3] = ["52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"];

/// Every kind of reference. `{1}`, `{2}` and `{3}` are the names of cards, `{1.100}` a VLAN named after one.
const DOCUMENT: &str = "\
hostname:
  config: worker-0
dns-resolver:
  config:
    server: [192.0.2.53, 'fe80::53%{1.100}']
    search: [{1}.example.org]
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: '{1.100}'}
  - {destination: 198.51.100.0/24, next-hop-address: 203.0.113.1, next-hop-interface: '{2}'}
route-rules:
  config:
  - {ip-from: 203.0.113.0/24, iif: '{2}', route-table: 254, priority: 100}
interfaces:
- name: '{1}'
  type: ethernet
  mac-address: 52:54:00:00:00:01
  description: the card {1}
  profile-name: the-{1}
- name: '{2}'
  type: ethernet
  mac-address: 52:54:00:00:00:02
  alt-names: [{name: storage}]
  ipv4: {enabled: true, address: [{ip: 203.0.113.10, prefix-length: 24}]}
- name: '{3}'
  type: ethernet
  mac-address: 52:54:00:00:00:03
  ethernet: {sr-iov: {total-vfs: 2}}
- name: '{1.100}'
  type: vlan
  vlan: {base-iface: '{1}', id: 100}
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
  ipv6: {enabled: true, address: [{ip: '2001:db8::10', prefix-length: 64}]}
- name: bond0
  type: bond
  copy-mac-from: '{3}'
  link-aggregation:
    mode: active-backup
    options: {primary: '{3}'}
    port: ['{3}']
    ports-config: [{name: '{3}', priority: 9}]
- name: vrf0
  type: vrf
  vrf: {port: ['{2}'], route-table-id: 100}
- name: vxlan7
  type: vxlan
  vxlan: {base-iface: '{2}', id: 7, remote: 198.51.100.9}
- name: mv0
  type: mac-vlan
  mac-vlan: {base-iface: '{2}', mode: bridge}
- name: mt0
  type: mac-vtap
  mac-vtap: {base-iface: '{2}', mode: bridge}
- name: ms0
  type: macsec
  macsec:
    base-iface: '{2}'
    encrypt: true
    mka-cak: 50b71a8ef0bd5751ea76de6d6c98c03a
    mka-ckn: f2b4297d39da7330910a74abc0449feb45b5c0b9fc23df1430e1898fcf1c4550
    port: 0
    validation: strict
    send-sci: true
- name: br0x
  type: linux-bridge
  bridge: {port: [{name: '{1.100}x'}]}
- name: '{1.100}x'
  type: dummy
";

/// The document with these names for the cards.
fn document(names: [&str; 3], vlan: &str) -> String {
    let named = DOCUMENT.replace("{1.100}", vlan);
    let numbered = names.iter().enumerate();
    numbered.fold(named, |text, (index, name)| text.replace(&format!("{{{}}}", index + 1), name))
}

/// The machine that has the cards under these names.
fn machine(names: [&str; 3]) -> Machine {
    let cards = names.into_iter().zip(ADDRESSES);
    // The document has MACsec.
    let machine = Machine::new().file("usr/sbin/wpa_supplicant", "");
    cards.fold(machine, |machine, (name, mac)| machine.card(name, mac))
}

/// Profiles that `nmgen generate` writes for a document.
fn generated(document: &str) -> BTreeMap<String, String> {
    let machine = Machine::new().file("state.yml", document);
    program::nmgen_in(machine.path(""), &["generate", "-o", "out", "state.yml"]).exits(0);
    machine.files("out")
}

/// The document as a user would write it for this machine.
fn expected(names: [&str; 3], vlan: &str, logical: [&str; 3], logical_vlan: &str) -> String {
    // Text that is no reference stays, such as a bridge port with a similar name.
    document(names, vlan)
        .replace(&format!("the card {}", names[0]), &format!("the card {}", logical[0]))
        .replace(&format!("the-{}", names[0]), &format!("the-{}", logical[0]))
        .replace(&format!("{}.example.org", names[0]), &format!("{}.example.org", logical[0]))
        .replace(&format!("{vlan}x"), &format!("{logical_vlan}x"))
        .replace("'{", "'")
}

#[tests::case]
fn the_profiles_are_those_of_the_same_document_with_the_machines_names() {
    let logical = ["eth1", "eth2", "eth10"];
    for names in [
        ["ens3", "ens4", "ens5"],
        // Names that the document gives to other cards, and names made of digits.
        ["eth2", "eth10", "eth1"],
        ["100", "1e3", "0x10"],
    ] {
        let machine = machine(names).host("worker-0", &document(logical, "eth1.100"));
        machine.boot().exits(0);
        let vlan = format!("{}.100", names[0]);
        let expected = generated(&expected(names, &vlan, logical, "eth1.100"));
        let staged = machine.staged_as_generated();
        assert_eq!(staged.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, text) in &expected {
            assert_eq!(staged[name], *text, "{name}");
        }
        // The initramfs's profiles differ in their bounds only.
        let uuid = |text: &String| {
            let uuid = text.lines().find(|line| line.starts_with("uuid="));
            uuid.map(str::to_owned)
        };
        let early = machine.files(EARLY);
        assert_eq!(early.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        for (name, text) in &early {
            assert_eq!(uuid(text), uuid(&expected[name]), "{name}");
        }
        let link = format!("run/nmgen-boot/etc/systemd/network/70-{}.link", names[1]);
        assert!(machine.read(&link).contains("AlternativeName=storage\n"));
        assert_eq!(machine.read("run/nmgen-boot/etc/hostname"), "worker-0\n");
        assert_eq!(machine.read("run/NetworkManager/initrd/hostname"), "worker-0\n");
    }
}

#[tests::case]
fn a_name_that_grows_too_long_is_shortened_alike_every_time() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- {name: eth0.1234, type: vlan, vlan: {base-iface: eth0, id: 1234}}
- {name: eth1.1234, type: vlan, vlan: {base-iface: eth1, id: 1234}}
- {name: eth1.1234.7, type: vlan, vlan: {base-iface: eth1.1234, id: 7}}
- {name: br1, type: linux-bridge, bridge: {port: [{name: eth1.1234}]}}
";
    let machine = machine(["enp129s0f0np0", "enp129s0f1np1", "ens5"]).host("worker-0", document);
    let said = machine.boot().exits(0);
    let names = [
        "br1",
        "enp1292418.1234",
        "enp129942f.1234",
        "enp129s0f0np0",
        "enp129s0f1np1",
        "enp12d2c6.1234.7",
    ];
    assert_eq!(machine.profiles(STAGED).len(), names.len());
    for name in machine.profiles(STAGED) {
        assert!(name.len() <= 15, "{name}");
    }
    let port = keyfile::parse(&machine.read(&format!("{STAGED}/enp129942f.1234.nmconnection")));
    let connection: BTreeMap<_, _> = port[0].1.iter().cloned().collect();
    assert_eq!(connection["master"], "br1");
    assert!(said.console.contains("; eth1.1234 is enp129942f.1234"), "{said:?}");
}

#[tests::case]
fn the_address_to_copy_is_the_cards() {
    let document = "\
interfaces:
- {name: ens3, type: ethernet}
- name: bond0
  type: bond
  copy-mac-from: ens3
  link-aggregation: {mode: active-backup, port: [ens3, ens4]}
- name: br1
  type: linux-bridge
  copy-mac-from: ens5
  bridge: {port: [{name: ens5}]}
- {name: bond9, type: bond, link-aggregation: {mode: active-backup, port: []}}
";
    let machine = machine(["ens3", "ens4", "ens5"])
        .command_line("nmgen.host=worker-0 nmgen.timeout=0")
        .host("worker-0", document);
    let said = machine.boot().exits(0);
    assert!(!said.console.contains("copy-mac-from"), "{said:?}");
    for (name, mac) in [("bond0", ADDRESSES[0]), ("br1", ADDRESSES[2])] {
        let profile = machine.read(&format!("{STAGED}/{name}.nmconnection"));
        assert!(
            profile.contains(&format!("cloned-mac-address={}\n", mac.to_uppercase()))
                || profile.contains(&format!("cloned-mac-address={mac}\n")),
            "{profile}"
        );
    }
    let other = machine.read(&format!("{STAGED}/bond9.nmconnection"));
    assert!(!other.contains("mac-address"), "{other}");
    // The card itself keeps its name.
    assert!(!machine.read(&format!("{STAGED}/ens3.nmconnection")).contains("mac-address"));
}

#[tests::case]
fn a_document_for_a_prefix_speaks_of_the_card_with_it() {
    let document = "\
interfaces:
- name: eth0
  type: ethernet
  ipv4: {enabled: true, address: [{ip: 192.0.2.20, prefix-length: 24}]}
routes:
  config:
  - {destination: 198.51.100.0/24, next-hop-address: 192.0.2.1, next-hop-interface: eth0}
";
    let machine = Machine::new()
        .card("ens2", "02:00:00:00:00:09")
        .card("ens3", "52:54:00:12:34:56")
        .host("52-54-00", document);
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["ens3"]);
    let profile = machine.read(&format!("{STAGED}/ens3.nmconnection"));
    assert!(profile.contains("interface-name=ens3\n"), "{profile}");
    assert!(profile.contains("route0=198.51.100.0/24,192.0.2.1"), "{profile}");
    // A card with the document's name is a match.
    machine.plug("eth0", "52:54:00:12:34:57");
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["eth0"]);
}

/// nmstate finds an interface by the names that the document gives it besides: they are no cards of their own.
#[tests::case]
fn a_reference_may_use_another_name_of_the_document() {
    let document = "\
interfaces:
- {name: ens4, type: ethernet, mac-address: 52:54:00:00:00:02, profile-name: lan, alt-names: [{name: storage}]}
- {name: st.7, type: vlan, vlan: {base-iface: storage, id: 7}}
- {name: st.8, type: vlan, vlan: {base-iface: lan, id: 8}}
";
    let machine = Machine::with_card()
        .command_line("nmgen.timeout=60\n")
        .card("ens4", ADDRESSES[1])
        .host("52-54-00-00-00-01", document);
    let said = machine.boot().exits(0);
    assert!(!said.console.contains("waiting") && !said.console.contains(" is ens3"), "{said:?}");
}

/// nmstate takes an alternative name for its card; in the initramfs udev knows it. NetworkManager's `interface-name` does not.
#[tests::case]
fn an_alternative_name_is_the_cards() {
    let document = "\
interfaces:
- {name: enp1s0, type: ethernet}
- {name: enp1s0.7, type: vlan, vlan: {base-iface: enp1s0, id: 7}}
";
    let machine = Machine::with_card()
        .command_line("nmgen.host=worker-0 nmgen.timeout=60\n")
        .card("ens4", ADDRESSES[1])
        .host("worker-0", document);
    machine.write("sys/class/net/ens4/ifindex", "3\n");
    machine.write("run/udev/data/n3", "I:1\nE:ID_NET_NAME_PATH=enp1s0\nE:ID_NET_NAME=ens4\n");
    machine.boot().exits(0).says("; enp1s0 is ens4");
    assert_eq!(machine.profiles(STAGED), ["ens4", "ens4.7"]);
    // A card that has the name for its own is meant first.
    machine.plug("enp1s0", ADDRESSES[2]);
    machine.boot().exits(0);
    assert_eq!(machine.profiles(STAGED), ["enp1s0", "enp1s0.7"]);
}

/// The address of a missing card, under a name that another card has on this machine.
#[tests::case]
fn what_stands_on_a_missing_card_takes_no_other() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: eth1, type: ethernet, mac-address: 52:54:00:00:00:02}
- {name: eth0.7, type: vlan, vlan: {base-iface: eth0, id: 7}}
";
    // The present card may even be another one of the document.
    for (mac, expected) in [
        (ADDRESSES[1], ["eth0", "eth0-3836", "eth0-3836.7"]),
        (ADDRESSES[2], ["ens4", "eth0-3836", "eth0-3836.7"]),
    ] {
        let mut machine = Machine::new().card("eth0", mac).host("worker-0", document);
        if mac != ADDRESSES[1] {
            machine = machine.card("ens4", ADDRESSES[1]);
        }
        machine.boot().exits(0);
        assert_eq!(machine.profiles(STAGED), expected);
        let card = machine.read(&format!("{STAGED}/eth0-3836.nmconnection"));
        assert!(card.contains("\nmac-address=52:54:00:00:00:01\n"), "{card}");
        assert!(!card.contains("interface-name="), "{card}");
        let vlan = machine.read(&format!("{STAGED}/eth0-3836.7.nmconnection"));
        let uuid = card.lines().find_map(|line| line.strip_prefix("uuid=")).unwrap();
        assert!(vlan.ends_with(&format!("\nparent={uuid}\n")), "{vlan}");
    }
}

#[tests::case]
fn two_names_for_one_card_are_an_error() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: ens3, type: ethernet}
";
    let machine = machine(["ens3", "ens4", "ens5"]).host("worker-0", document);
    let said = machine.boot().exits(2);
    let expected = "nmgen: /etc/nmgen/worker-0.yml: eth0 and ens3 would both be ens3 on this machine; \
                    the boot goes on with the initramfs's own network\n";
    assert_eq!(said.console, expected);
    assert!(machine.is_untouched());
    // One name twice is no such fault: the last entry counts, as everywhere.
    let card = "- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01";
    let twice = format!("interfaces:\n{card}}}\n{card}, mtu: 1400}}\n");
    machine.write("etc/nmgen/worker-0.yml", &twice);
    machine.boot().exits(0).says(" declared twice; first on line 2 ");
    assert!(machine.read(&format!("{STAGED}/ens3.nmconnection")).contains("\nmtu=1400\n"));
}

/// Cards that are to go, or to be down, need not come, and none of the machine's stands for them.
#[tests::case]
fn cards_that_the_document_does_not_bring_up_are_not_missed() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet}
- {name: eth1, type: ethernet, state: absent}
- {name: eth2, type: ethernet, state: down, mac-address: 52:54:00:00:00:02}
";
    let machine = Machine::with_card().host("52-54-00-00-00-01", document);
    let said = machine.boot().exits(0).says("; eth0 is ens3\n");
    assert!(!said.console.contains("waiting") && !said.console.contains("appear"), "{said:?}");
    // Their entries stay, and so does what is said of them.
    assert!(said.console.contains(": nothing removes eth1: "), "{said:?}");
}

/// A card has the name here that another interface of the document has, which is to go: cards change names.
#[tests::case]
fn a_name_that_goes_is_free() {
    let document = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- {name: ens3, type: ethernet, state: absent}
";
    let machine = Machine::with_card().host("worker-0", document);
    let said = machine.boot();
    assert_eq!(
        (said.code, machine.profiles(STAGED)),
        (Some(0), vec!["ens3".to_owned()]),
        "{said:?}"
    );
}

#[tests::case]
fn the_directory_and_the_documents_are_left_as_they_are() {
    let text = document(["eth1", "eth2", "eth10"], "eth1.100");
    let machine = machine(["ens3", "ens4", "ens5"]).host("worker-0", &text);
    machine.boot().exits(0);
    assert_eq!(fs::read_to_string(machine.path("etc/nmgen/worker-0.yml")).unwrap(), text);
}

/// Names change from boot to boot: a `.link` file, `ifname=` at the first boot only, two cards whose drivers race.
#[tests::case]
fn the_running_systems_profile_is_for_the_card_and_not_for_its_name() {
    let document = "\
interfaces:
- name: eth0
  type: ethernet
  mac-address: 52:54:00:00:00:01
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- {name: eth0.7, type: vlan, vlan: {base-iface: eth0, id: 7}}
- {name: ens4, type: ethernet}
";
    let staged = |line: &str| {
        let line = format!("nmgen.timeout=0 {line}\n");
        let machine =
            machine(["ens3", "ens4", "ens5"]).command_line(&line).host("worker-0", document);
        machine.boot().exits(0);
        let early = machine.read(&format!("{EARLY}/ens3.nmconnection"));
        assert!(!early.contains("\nmac-address="), "{early}");
        ["ens3", "ens3.7", "ens4"]
            .map(|name| machine.read(&format!("{STAGED}/{name}.nmconnection")))
    };
    // Another card with the name does not get the address.
    let [card, vlan, by_name] = staged("");
    assert!(
        card.contains("\ninterface-name=ens3\n")
            && card.contains("\nmac-address=52:54:00:00:00:01\n"),
        "{card}"
    );
    assert!(vlan.contains("\nparent=ens3\n"), "{vlan}");
    assert!(!by_name.contains("mac-address"), "{by_name}");
    // On request the card gets it under any name, and the VLAN follows.
    let [card, vlan, by_name] = staged("nmgen.identifier=mac-address");
    assert!(
        !card.contains("interface-name=") && card.contains("\nmac-address=52:54:00:00:00:01\n"),
        "{card}"
    );
    let uuid = card.lines().find_map(|line| line.strip_prefix("uuid=")).unwrap();
    assert!(vlan.contains(&format!("\nparent={uuid}\n")), "{vlan}");
    assert!(by_name.contains("\ninterface-name=ens4\n"), "{by_name}");
}

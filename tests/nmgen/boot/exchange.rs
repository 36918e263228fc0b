//! A card that was replaced, a disk in another machine, and a mark that was removed: the running system's profiles are for
//! the cards that it has, as far as nobody has edited them.

use tests::machine::{EARLY, Machine, RUNNING};

const RECORD: &str = "run/nmgen-release";
const MARK: &str = "sysroot/etc/nmgen/persisted";
const OLD: [&str; 2] = ["52:54:00:00:00:01", "52:54:00:00:00:02"];
const NEW: &str = "52:54:00:00:00:11";

fn document(first: &str) -> String {
    format!(
        "interfaces:\n\
         - {{name: eth0, type: ethernet, mac-address: '{first}'}}\n\
         - {{name: eth1, type: ethernet, mac-address: '{}'}}\n\
         - name: bond0\n  type: bond\n  link-aggregation: {{mode: active-backup, port: [eth0, eth1]}}\n  \
           ipv4: {{enabled: true, address: [{{ip: 192.0.2.10, prefix-length: 24}}]}}\n",
        OLD[1]
    )
}

/// A machine after its first boot.
fn booted(line: &str, document: &str) -> Machine {
    let machine = Machine::with_card()
        .card("ens4", OLD[1])
        .command_line(&format!("nmgen.timeout=0 rd.neednet=1 {line}\n"))
        .host("worker-0", document);
    machine.boot().exits(0);
    machine.persist().exits(0);
    machine
}

/// The lines of a later boot.
fn later(machine: &Machine) -> String {
    machine.boot().exits(0);
    let said = machine.persist().exits(0);
    said.kernel
}

fn profile(machine: &Machine, name: &str) -> String {
    machine.read(&format!("{RUNNING}/{name}.nmconnection"))
}

#[tests::case]
fn a_replaced_card_gets_the_network_of_the_old_one() {
    let machine = booted("", &document(OLD[0]));
    let former = profile(&machine, "bond0");
    let machine = machine.card("ens3", NEW).host("worker-0", &document(NEW));
    let said = later(&machine);
    assert!(said.contains("for cards that this machine lacks"), "{said}");
    assert!(profile(&machine, "ens3").contains(&format!("mac-address={NEW}\n")), "{said}");
    assert_eq!(profile(&machine, "bond0"), former);
    // NetworkManager takes the active devices over.
    assert!(!machine.has(RECORD), "{}", machine.read(RECORD));
    // Once.
    assert!(later(&machine).contains("at an earlier boot\n"));
}

/// Another card is known by its address: its profile's uuid alone is the old one's.
#[tests::case]
fn an_edited_profile_stays_and_its_card_is_released() {
    let machine = booted("", &document(OLD[0]));
    let path = format!("{RUNNING}/ens3.nmconnection");
    let edited = format!("{}[ethtool]\nring-rx=4096\n", machine.read(&path));
    machine.write(&path, &edited);
    let machine = machine.card("ens3", NEW).host("worker-0", &document(NEW));
    let said = later(&machine);
    assert_eq!(machine.read(&path), edited);
    let warning = format!(
        "<4>nmgen: /{path}: the profile is for another card than ens3, which has no network"
    );
    assert!(said.contains(&warning), "{said}");
    assert_eq!(machine.read(RECORD), "ens3\n");
}

/// The agent has made the bond a port of br-ex: what was edited stays, and the port's profile finds the new card.
#[tests::case]
fn a_port_below_an_edited_bond_is_written_anew() {
    let machine = booted("", &document(OLD[0]));
    let bond = profile(&machine, "bond0")
        .replace("[connection]\n", "[connection]\nmaster=br-ex\nslave-type=ovs-port\n");
    machine.write(&format!("{RUNNING}/bond0.nmconnection"), &bond);
    let machine = machine.card("ens3", NEW).host("worker-0", &document(NEW));
    let said = later(&machine);
    assert!(profile(&machine, "ens3").contains(NEW), "{said}");
    assert_eq!(profile(&machine, "bond0"), bond);
}

/// The document names the old card still: its profile is no better than the one that is there.
#[tests::case]
fn without_a_document_for_the_new_card_nothing_changes() {
    let machine = booted("", &document(OLD[0]));
    let former = machine.files(RUNNING);
    let machine = machine.card("ens3", NEW);
    later(&machine);
    assert_eq!(machine.files(RUNNING), former);
}

#[tests::case]
fn a_name_alone_needs_no_document_for_the_new_card() {
    let machine = booted("nmgen.identifier=name", &document(OLD[0]));
    for name in ["bond0", "ens3", "ens4"] {
        let text = profile(&machine, name);
        assert!(!text.contains("\nmac-address=") && text.contains("interface-name="), "{text}");
    }
    let former = machine.files(RUNNING);
    let machine = machine.card("ens3", NEW).host("worker-0", &document(NEW));
    assert!(later(&machine).contains("at an earlier boot from another text"));
    assert_eq!(machine.files(RUNNING), former);
    assert!(!machine.has(RECORD));
}

/// The spare machine has its own document, with other names.
#[tests::case]
fn a_disk_in_another_machine_gets_that_ones_network() {
    let machine = booted("", &document(OLD[0]));
    for card in ["ens3", "ens4"] {
        std::fs::remove_dir_all(machine.path(&format!("sys/class/net/{card}"))).unwrap();
    }
    let spare = "interfaces:\n- name: eth9\n  type: ethernet\n  mac-address: '52:54:00:00:00:11'\n  ipv4: {enabled: true, dhcp: true}\n";
    let machine = machine.card("eno1", NEW).host("spare", spare);
    let said = later(&machine);
    assert_eq!(machine.profiles(RUNNING), ["eno1"], "{said}");
    for name in ["bond0", "ens3", "ens4"] {
        let line = format!(
            "<6>nmgen: /{RUNNING}/{name}.nmconnection of an earlier hand-over is removed\n"
        );
        assert!(said.contains(&line), "{said}");
    }
    assert!(machine.read(MARK).contains("\nhost=spare\n"));
    // But not what somebody has edited.
    let machine = booted("", &document(OLD[0]));
    let bond = format!("{}# mine\n", profile(&machine, "bond0"));
    machine.write(&format!("{RUNNING}/bond0.nmconnection"), &bond);
    for card in ["ens3", "ens4"] {
        std::fs::remove_dir_all(machine.path(&format!("sys/class/net/{card}"))).unwrap();
    }
    let machine = machine.card("eno1", NEW).host("spare", spare);
    later(&machine);
    assert_eq!(profile(&machine, "bond0"), bond);
}

/// The mark's own text says so.
#[tests::case]
fn without_the_mark_what_nobody_edited_is_written_anew() {
    let vlan = |id: u32| {
        format!(
            "interfaces:\n- {{name: eth0, type: ethernet, mac-address: '{}'}}\n- name: eth0.{id}\n  type: vlan\n  \
             vlan: {{base-iface: eth0, id: {id}}}\n  ipv4: {{enabled: true, dhcp: true}}\n",
            OLD[0]
        )
    };
    let machine = booted("", &vlan(100)).host("worker-0", &vlan(200));
    let said = later(&machine);
    assert!(said.contains("another text of worker-0.yml"), "{said}");
    assert_eq!(machine.profiles(RUNNING), ["ens3", "ens3.100"]);
    std::fs::remove_file(machine.path(MARK)).unwrap();
    let said = later(&machine);
    assert_eq!(machine.profiles(RUNNING), ["ens3", "ens3.200"], "{said}");
    assert!(machine.profiles(EARLY).iter().all(|name| !name.starts_with("ens3")));
    assert!(machine.has(MARK));
    // An edited one is the system's own.
    let path = format!("{RUNNING}/ens3.nmconnection");
    let edited = format!("{}[ethtool]\nring-rx=4096\n", machine.read(&path));
    machine.write(&path, &edited);
    std::fs::remove_file(machine.path(MARK)).unwrap();
    let machine = machine.host("worker-0", &vlan(200).replace("dhcp: true", "dhcp: false"));
    let said = later(&machine);
    assert_eq!(machine.read(&path), edited, "{said}");
    assert!(profile(&machine, "ens3.200").contains("method=auto"), "{said}");
}

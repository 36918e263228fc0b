//! `nmgen boot --live`: final profiles in a live root, from a tree of assisted-service or a hosts directory.

use std::os::unix::fs::PermissionsExt;

use tests::machine::{LIVE, Machine};
use tests::{keyfile, program};

const TREE: &str = "etc/assisted/network";
const GENERATED: &str = "\
[connection]
id=eno1
uuid=3f0a1e2a-9f5c-4a3e-8f3b-1d2c3b4a5f61
type=ethernet
interface-name=eno1

[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
";
const OWN: &str = "[connection]\nid=own\ntype=ethernet\ninterface-name=eno9\n";

/// The fixture's tree of two hosts: NMState, and a policy with captures.
fn with_tree(machine: Machine) -> Machine {
    let from = program::root().join("tests/fixtures/sources/assisted");
    for path in [
        "host0/host0.yaml",
        "host0/mac_interface.ini",
        "host1/mac_interface.ini",
        "host1/ymlFile1.yml",
    ] {
        let text = std::fs::read_to_string(from.join(path)).unwrap();
        machine.write(&format!("{TREE}/{path}"), &text);
    }
    machine
}

fn second() -> Machine {
    Machine::live().card("ens3", "52:54:00:00:01:01").card("ens4", "52:54:00:00:01:02")
}

fn value(machine: &Machine, profile: &str, section: &str, key: &str) -> Option<String> {
    let sections = keyfile::parse(&machine.read(&format!("{LIVE}/{profile}.nmconnection")));
    let (_, entries) = sections.into_iter().find(|(name, _)| name == section)?;
    entries.into_iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

#[tests::case]
fn a_policy_with_captures_becomes_final_profiles_with_this_machines_names() {
    let machine = with_tree(second())
        .file(&format!("{LIVE}/default_connection.nmconnection"), GENERATED)
        .file(&format!("{LIVE}/eno1.nmconnection"), GENERATED)
        .file(&format!("{LIVE}/own.nmconnection"), OWN);
    let said = machine.boot_live().exits(0);
    assert_eq!(
        said.console,
        "nmgen: /etc/NetworkManager/system-connections/default_connection.nmconnection gives way to this \
         machine's configuration\n\
         nmgen: /etc/NetworkManager/system-connections/eno1.nmconnection gives way to this machine's \
         configuration\n\
         nmgen: this machine is host1 (ens3 has the MAC address 52:54:00:00:01:01): 4 profiles from \
         /etc/assisted/network/host1; eno1 is ens3; eno2 is ens4\n"
    );
    assert_eq!(machine.profiles(LIVE), ["bond0", "bond0.100", "ens3", "ens4", "own"]);
    assert_eq!(value(&machine, "bond0.100", "ipv4", "address0").as_deref(), Some("192.0.2.20/24"));
    assert_eq!(value(&machine, "ens3", "connection", "interface-name").as_deref(), Some("ens3"));
    for profile in machine.profiles(LIVE).iter().filter(|name| *name != "own") {
        let path = machine.path(&format!("{LIVE}/{profile}.nmconnection"));
        let mode = path.metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode, 0o600, "{profile}");
        // Final: without the initramfs's bounds.
        assert_eq!(value(&machine, profile, "connection", "autoconnect-priority"), None);
    }
    assert!(!machine.has("run/nmgen-boot") && !machine.has("etc/nmgen/persisted"));
    assert!(!machine.has("run/NetworkManager/initrd"));
}

/// The profiles are those of `nmgen generate` for the document with the machine's names.
#[tests::case]
fn nmstate_beside_a_map_of_cards_does_too() {
    let machine =
        Machine::live().card("eno1", "52:54:00:00:00:01").card("eno2", "52:54:00:00:00:02");
    let machine = with_tree(machine);
    machine.boot_live().exits(0);
    let expected = tempfile::tempdir().unwrap();
    let status = std::process::Command::new(program::nmgen())
        .args(["generate", "--host", "host0", "-o"])
        .arg(expected.path())
        .arg(program::root().join("tests/fixtures/sources/assisted"))
        .status();
    assert!(status.unwrap().success());
    let expected: std::collections::BTreeMap<String, String> =
        std::fs::read_dir(expected.path().join("host0"))
            .unwrap()
            .map(|entry| {
                let path = entry.unwrap().path();
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                (name, std::fs::read_to_string(path).unwrap())
            })
            .collect();
    assert_eq!(machine.files(LIVE), expected);
}

/// assisted-service replaces the map's names in lists of ports and in base interfaces, whatever the document declares.
#[tests::case]
fn a_card_that_only_the_map_and_a_reference_name_is_found() {
    let bond = "interfaces: [{name: bond0, type: bond, ipv4: {enabled: true, dhcp: true}, \
                link-aggregation: {mode: active-backup, port: [eno1, eno2]}}]\n";
    let machine = with_tree(second());
    machine.write(&format!("{TREE}/host1/ymlFile1.yml"), bond);
    let said = machine.boot_live().exits(0);
    assert_eq!(machine.profiles(LIVE), ["bond0", "ens3", "ens4"], "{said:?}");
    for card in ["ens3", "ens4"] {
        let of = |key| value(&machine, card, "connection", key);
        assert_eq!(
            (of("interface-name").as_deref(), of("master").as_deref()),
            (Some(card), Some("bond0"))
        );
    }
    let vlan = "interfaces: [{name: eno2.5, type: vlan, ipv4: {enabled: true, dhcp: true}, \
                vlan: {base-iface: eno2, id: 5}}]\n";
    machine.write(&format!("{TREE}/host1/ymlFile1.yml"), vlan);
    let said = machine.boot_live();
    assert_eq!(machine.profiles(LIVE), ["ens4", "ens4.5"], "{said:?}");
    assert_eq!(value(&machine, "ens4.5", "vlan", "parent").as_deref(), Some("ens4"));
}

#[tests::case]
fn a_second_run_replaces_what_the_first_one_wrote_and_nothing_else() {
    let machine = with_tree(second()).file(&format!("{LIVE}/own.nmconnection"), OWN);
    machine.boot_live().exits(0);
    let first = machine.files(LIVE);
    machine.boot_live().exits(0);
    assert_eq!(machine.files(LIVE), first);
    // A config image brings another configuration.
    let text = "interfaces: [{name: eno1, type: ethernet, ipv4: {enabled: true, dhcp: true}}]\n";
    machine.write(&format!("{TREE}/host1/ymlFile1.yml"), text);
    machine.boot_live().exits(0);
    assert_eq!(machine.profiles(LIVE), ["ens3", "own"]);
    assert_eq!(value(&machine, "ens3", "ipv4", "method").as_deref(), Some("auto"));
    // One that fits no more leaves all as it is.
    machine.write(&format!("{TREE}/host1/mac_interface.ini"), "52:54:00:00:09:01=eno1\n");
    let said = machine.boot_live();
    let line = "nmgen: no host in /etc/assisted/network matches this machine: nothing to do\n";
    assert_eq!((said.code, said.console.as_str()), (Some(0), line));
    assert_eq!(machine.profiles(LIVE), ["ens3", "own"]);
}

const BOND: &str = "[connection]\nid=bond0\nuuid=b\ntype=bond\ninterface-name=bond0\n\n[bond]\nmode=active-backup\nprimary=eth1\n";

fn port(name: &str, more: &str) -> String {
    format!("[connection]\nid={name}\nuuid={name}\ntype=ethernet\ninterface-name={name}\n{more}")
}

/// The keyfiles of older versions of assisted-service.
#[tests::case]
fn ready_keyfiles_get_this_machines_names() {
    let vlan = "[connection]\nid=eth1.1234\nuuid=v\ntype=vlan\ninterface-name=eth1.1234\n\n[vlan]\nid=1234\nparent=eth1\n\n[ipv4]\nmethod=manual\naddress0=192.0.2.70/24\n";
    let secret = port("eth0", "master=bond0\nslave-type=bond\n\n[802-1x]\npassword=\\s a\\\\b\n");
    let machine = Machine::live()
        .card("enp129s0f1np1", "52:54:00:00:00:02")
        // The logical name of the other one.
        .card("eth1", "52:54:00:00:00:01")
        .file(
            &format!("{TREE}/host0/mac_interface.ini"),
            "52:54:00:00:00:01=eth0\n52:54:00:00:00:02=eth1",
        )
        .file(&format!("{TREE}/host0/eth0.nmconnection"), &secret)
        .file(
            &format!("{TREE}/host0/eth1.nmconnection"),
            &port("eth1", "master=bond0\nslave-type=bond\n"),
        )
        .file(&format!("{TREE}/host0/bond0.nmconnection"), BOND)
        .file(&format!("{TREE}/host0/eth1.1234.nmconnection"), vlan)
        .file(&format!("{TREE}/host0/broken.nmconnection"), "no profile\n");
    let said = machine.boot_live().exits(0);
    assert_eq!(
        said.console,
        "nmgen: /etc/assisted/network/host0/broken.nmconnection has no [connection]: it is left out\n\
         nmgen: this machine is host0 (eth1 has the MAC address 52:54:00:00:00:01): 4 profiles from \
         /etc/assisted/network/host0; eth0 is eth1; eth1 is enp129s0f1np1; eth1.1234 is enp129942f.1234\n"
    );
    // The names are swapped at once, and a VLAN's has at most 15 bytes.
    assert_eq!(machine.profiles(LIVE), ["bond0", "enp129942f.1234", "enp129s0f1np1", "eth1"]);
    assert_eq!(value(&machine, "bond0", "bond", "primary").as_deref(), Some("enp129s0f1np1"));
    assert_eq!(
        value(&machine, "enp129942f.1234", "vlan", "parent").as_deref(),
        Some("enp129s0f1np1")
    );
    assert_eq!(value(&machine, "eth1", "connection", "id").as_deref(), Some("eth1"));
    assert!(machine.read(&format!("{LIVE}/eth1.nmconnection")).contains("password=\\s a\\\\b\n"));
}

/// A management interface's address is the same in a whole fleet.
#[tests::case]
fn an_address_of_several_hosts_identifies_none() {
    let map = |own: &str| format!("{own}=eno1\n02:00:00:00:00:01=usb0\n");
    let document = |mtu: u32| format!("interfaces: [{{name: eno1, type: ethernet, mtu: {mtu}}}]\n");
    let tree = |machine: Machine| {
        machine
            .file(&format!("{TREE}/host0/mac_interface.ini"), &map("52:54:00:00:00:01"))
            .file(&format!("{TREE}/host0/a.yml"), &document(1400))
            .file(&format!("{TREE}/host1/mac_interface.ini"), &map("52:54:00:00:00:02"))
            .file(&format!("{TREE}/host1/a.yml"), &document(1401))
    };
    let machine =
        tree(Machine::live().card("usb0", "02:00:00:00:00:01").card("ens3", "52:54:00:00:00:02"));
    machine.boot_live().exits(0);
    assert_eq!(value(&machine, "ens3", "ethernet", "mtu").as_deref(), Some("1401"));

    let machine = tree(Machine::live().card("usb0", "02:00:00:00:00:01"));
    machine.boot_live().exits(0).says("several hosts have 02:00:00:00:00:01");
    assert!(machine.profiles(LIVE).is_empty());
}

#[tests::case]
fn another_hosts_fault_is_not_this_machines_and_its_own_is_an_error() {
    let machine = with_tree(second());
    machine.write(&format!("{TREE}/host0/host0.yaml"), "interfaces: [");
    machine.boot_live().exits(0);
    machine.write(&format!("{TREE}/host1/ymlFile1.yml"), "interfaces: [");
    let before = machine.files(LIVE);
    let said = machine.boot_live().exits(2).says("/etc/assisted/network/host1/ymlFile1.yml:");
    assert!(said.console.ends_with("; the system keeps the profiles that it has\n"), "{said:?}");
    assert_eq!(machine.files(LIVE), before);
}

#[tests::case]
fn the_host_name_is_the_installers_for_a_card_of_this_machine() {
    let name = |machine: Machine| {
        machine
            .file("etc/assisted/hostnames/52:54:00:00:09:09", "worker-9\n")
            .file("etc/assisted/hostnames/52:54:00:00:01:02", "worker-1\n")
    };
    let machine = name(with_tree(second()));
    let said = machine.boot_live();
    assert!(said.console.ends_with("nmgen: this machine's host name is worker-1\n"), "{said:?}");
    assert_eq!(machine.read("etc/hostname"), "worker-1\n");
    assert_eq!(machine.read("proc/sys/kernel/hostname"), "worker-1");
    // One that is set stays.
    let machine = name(second()).file("etc/hostname", "chosen\n");
    machine.boot_live().exits(0);
    assert_eq!(machine.read("etc/hostname"), "chosen\n");
    // Text that is no host name is not written.
    for text in ["../etc", "localhost", &"a".repeat(65)] {
        let machine = second().file("etc/assisted/hostnames/52:54:00:00:01:02", text);
        machine.boot_live().says("the host name is not set");
        assert!(!machine.has("etc/hostname"));
    }
    let longest = "a".repeat(64);
    let machine = second().file("etc/assisted/hostnames/52:54:00:00:01:02", &longest);
    machine.boot_live().exits(0);
    assert_eq!(machine.read("proc/sys/kernel/hostname"), longest);
}

#[tests::case]
fn a_hosts_directory_serves_too() {
    let document = "interfaces: [{name: eth0, type: ethernet, mac-address: 52:54:00:00:01:01}]\n";
    let machine = second().host("worker-0", document);
    machine.boot_live().exits(0);
    assert_eq!(machine.profiles(LIVE), ["ens3"]);
    // Profiles that the initramfs has handed over stay.
    let machine = second().host("worker-0", document).file("etc/nmgen/persisted", "");
    let said = machine.boot_live();
    let line = "nmgen: the initramfs gave this system its profiles: nothing to do\n";
    assert_eq!((said.code, said.console.as_str()), (Some(0), line));
    // A directory by name, of either kind.
    let machine = with_tree(second()).file("media/hosts/worker-0.yml", document);
    let run = |hosts: &str| machine.run(machine.command().args(["--live", "--hosts", hosts]));
    run("/media/hosts").exits(0);
    assert_eq!(machine.profiles(LIVE), ["ens3"]);
    run("/etc/assisted/network").exits(0);
    assert_eq!(machine.profiles(LIVE), ["bond0", "bond0.100", "ens3", "ens4"]);
    run("/missing").exits(1).says("/missing");
}

/// The document's own, before the installer's.
#[tests::case]
fn a_document_may_have_the_host_name() {
    let document = "hostname: {config: worker-7}\n\
                    interfaces: [{name: eth0, type: ethernet, mac-address: 52:54:00:00:01:01}]\n";
    let machine = second()
        .host("worker-0", document)
        .file("etc/assisted/hostnames/52:54:00:00:01:02", "worker-1\n");
    let said = machine.boot_live().exits(0);
    assert!(said.console.ends_with("nmgen: this machine's host name is worker-7\n"), "{said:?}");
    assert_eq!(machine.read("etc/hostname"), "worker-7\n");
}

/// Whatever would take a card or a name of these goes; what has another uuid, interface and card stays.
#[tests::case]
fn a_profile_that_would_take_a_card_gives_way() {
    let profile = |keys: &str| format!("[connection]\nid=other\ntype=ethernet\n{keys}");
    let others = [
        ("by-uuid", profile("uuid=3f0a1e2a-9f5c-4a3e-8f3b-1d2c3b4a5f61\n")),
        ("by-name", profile("interface-name=ens3\n")),
        ("by-address", profile("\n[ethernet]\nmac-address=52:54:00:00:01:01\n")),
        (
            "own",
            profile(
                "uuid=9f0a1e2a-9f5c-4a3e-8f3b-1d2c3b4a5f61\ninterface-name=eno9\n\n[ethernet]\nmac-address=52:54:00:00:09:09\n",
            ),
        ),
    ];
    let mut machine = second()
        .file(&format!("{TREE}/host0/mac_interface.ini"), "52:54:00:00:01:01=eno1\n")
        .file(&format!("{TREE}/host0/eno1.nmconnection"), GENERATED);
    for (name, text) in &others {
        machine = machine.file(&format!("{LIVE}/{name}.nmconnection"), text);
    }
    let said = machine.boot_live().exits(0);
    assert_eq!(machine.profiles(LIVE), ["ens3", "own"], "{said:?}");
    assert_eq!(said.console.matches(" gives way to ").count(), 3, "{said:?}");
}

/// Two hosts of a tree may be one machine: a file of both is one profile, if it has one text.
#[tests::case]
fn a_machine_may_be_two_hosts() {
    let shared =
        |id: &str| format!("[connection]\nid={id}\nuuid=d\ntype=dummy\ninterface-name=shared\n");
    let machine = second()
        .file(&format!("{TREE}/host0/mac_interface.ini"), "52:54:00:00:01:01=eno1\n")
        .file(&format!("{TREE}/host0/eno1.nmconnection"), &port("eno1", ""))
        .file(&format!("{TREE}/host0/shared.nmconnection"), &shared("shared"))
        .file(&format!("{TREE}/host1/mac_interface.ini"), "52:54:00:00:01:02=eno2\n")
        .file(&format!("{TREE}/host1/shared.nmconnection"), &shared("shared"));
    machine.boot_live().exits(0);
    assert_eq!(machine.profiles(LIVE), ["ens3", "shared"]);
    machine.write(&format!("{TREE}/host1/shared.nmconnection"), &shared("other"));
    let said = machine.boot_live().exits(2);
    let expected = "nmgen: /etc/assisted/network/host1: another host of this machine, or another of its profiles, has \
                    shared.nmconnection too; the system keeps the profiles that it has\n";
    assert_eq!(said.console, expected);
}

#[tests::case]
fn an_argument_names_the_host_of_a_tree() {
    let machine = with_tree(second()).command_line("nmgen.host=host1 nmgen.timeout=0\n");
    let said = machine.boot_live().exits(0);
    assert!(
        said.console.starts_with("nmgen: this machine is host1 (nmgen.host= names it): "),
        "{said:?}"
    );
    let machine = with_tree(second()).command_line("nmgen.host=host9 nmgen.timeout=0\n");
    let said = machine.boot_live().exits(2);
    let line = "nmgen: nmgen.host=host9: no such document in /etc/assisted/network; ";
    assert!(said.console.starts_with(line), "{said:?}");
}

#[tests::case]
fn without_a_match_a_line_says_so_and_an_initramfs_is_refused() {
    let said = Machine::live().boot_live();
    assert_eq!(
        (said.code, said.console.as_str()),
        (Some(0), "nmgen: no hosts directory: nothing to do\n")
    );
    let said = Machine::with_card().boot_live().exits(2);
    assert!(
        said.console.contains("/etc/initrd-release exists, so this is an initramfs"),
        "{said:?}"
    );
}

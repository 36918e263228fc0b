//! The root disk's card: what firmware or the kernel command line gave it stays, and nothing of the document touches it.

use tests::machine::{EARLY, Machine, RUNNING, STAGED};

const DOCUMENT: &str = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- name: eth0.100
  type: vlan
  vlan: {base-iface: eth0, id: 100}
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- name: eth1
  type: ethernet
  mac-address: 52:54:00:00:00:02
  ipv4: {enabled: true, address: [{ip: 198.51.100.10, prefix-length: 24}]}
";
/// nm-initrd-generator's profile of an iBFT table, and of dracut's `ip=…:nbft0`.
const IBFT: &str = "\
[connection]
id=iBFT Connection
uuid=ddd4f3ba-3c2e-4c3a-9b9e-3b3c4b2fae5d
type=ethernet
autoconnect-priority=-200

[ethernet]
mac-address=52:54:00:00:00:01

[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
";
const IBFT_VLAN: &str = "\
[connection]
id=iBFT VLAN Connection
uuid=0f5b1a4c-7a0e-4f3c-8b7a-1f0a5f0c9d1e
type=vlan
autoconnect-priority=-200

[vlan]
id=7
parent=52:54:00:00:00:01

[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
";
const ARGUMENT: &str = "\
[connection]
id=ens3
uuid=7b2c9d34-5e0f-4f4e-a2a5-6f9d2b1c8e7a
type=ethernet
interface-name=ens3

[user]
org.freedesktop.NetworkManager.origin=nm-initrd-generator
";

fn machine(line: &str) -> Machine {
    Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .file("proc/sys/kernel/hostname", "worker-0\n")
        .command_line(&format!("nmgen.timeout=0 {line}\n"))
        .host("worker-0", DOCUMENT)
}

fn has_kept(machine: &Machine, name: &str, text: &str) {
    let path = format!("{EARLY}/{name}.nmconnection");
    let said = machine.boot().exits(0);
    assert_eq!(machine.read(&path), text);
    let mut expected = [name, "ens4"];
    expected.sort_unstable();
    assert_eq!(machine.early(), expected);
    assert_eq!(machine.profiles(STAGED), ["ens4"]);
    let warning = said.kernel.lines().find(|line| line.contains("root disk")).unwrap();
    assert!(
        warning.starts_with("<4>nmgen: the root disk is on the network: ens3, ens3.100 of "),
        "{said:?}"
    );
    // The running system gets nothing for this card either.
    machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["ens4"]);
    assert_eq!(machine.read(&path), text);
}

#[tests::case]
fn the_firmwares_card_is_never_touched() {
    // Older generators give it no priority.
    let by_id = IBFT.replace("autoconnect-priority=-200\n", "");
    for (name, text) in [("ibft", IBFT), ("ibft-vlan", IBFT_VLAN), ("ibft", &by_id)] {
        let machine =
            machine("rd.iscsi.ibft=1").file(&format!("{EARLY}/{name}.nmconnection"), text);
        has_kept(&machine, name, text);
    }
    // NetworkManager waits for its carrier.
    let machine = machine("").file(&format!("{EARLY}/ibft.nmconnection"), IBFT);
    machine.boot().exits(0);
    let settings = machine.read("run/NetworkManager/conf.d/20-nmgen.conf");
    assert!(settings.contains("except:mac:52:54:00:00:00:01;"), "{settings}");
}

#[tests::case]
fn the_command_lines_card_is_never_touched_when_the_root_disk_is_on_the_network() {
    for line in [
        "netroot=iscsi:192.0.2.1::::iqn.2024-01.org.example:disk ip=ens3:dhcp",
        "root=nbd:192.0.2.1:root ip=ens3:dhcp",
        "root=nfs4:192.0.2.1:/srv ip=ens3:dhcp",
        "rd.iscsi.firmware=1 ip=ens3:dhcp",
        "rd.nvmf.discover=tcp,192.0.2.1 ip=ens3:dhcp",
        "root=192.0.2.1:/srv ip=ens3:dhcp",
        "iscsiroot=192.0.2.1::::iqn.2024-01.org.example:disk ip=ens3:dhcp",
    ] {
        has_kept(
            &machine(line).file(&format!("{EARLY}/argument.nmconnection"), ARGUMENT),
            "argument",
            ARGUMENT,
        );
    }
    let nbft = ARGUMENT.replace("ens3", "nbft0");
    let machine = machine("").card("nbft0", "52:54:00:00:00:09");
    let machine = machine.file(&format!("{EARLY}/nbft0.nmconnection"), &nbft);
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["ens3", "ens3.100", "ens4", "nbft0"]);
}

/// Otherwise the document replaces `ip=`, as ever; each profile that goes is a line. dracut writes NVMe's names of the building
/// system into every initramfs for one machine, and Fibre Channel has no network card.
#[tests::case]
fn each_displaced_profile_is_a_line() {
    let machine =
        machine("rd.nvmf.hostnqn=nqn.2014-08.org.nvmexpress:uuid:host rd.nvmf.discover=fc,auto");
    let machine = machine.file(&format!("{EARLY}/argument.nmconnection"), ARGUMENT);
    let said = machine.boot().exits(0);
    assert_eq!(machine.profiles(EARLY), ["ens3", "ens3.100", "ens4"]);
    for name in ["argument", "default_connection"] {
        let line = format!("<6>nmgen: /{EARLY}/{name}.nmconnection gives way to it\n");
        assert_eq!(said.kernel.matches(&line).count(), 1, "{said:?}");
    }
}

/// `bond=bond9:ens4,ens9`: without one port the rest would be another bond.
#[tests::case]
fn a_bond_of_the_command_line_goes_whole() {
    let profile = |name: &str, more: &str| {
        let text = format!(
            "[connection]\nid={name}\nuuid={name}-uuid\ntype=ethernet\ninterface-name={name}\n{more}[user]\n\
             org.freedesktop.NetworkManager.origin=nm-initrd-generator\n"
        );
        (format!("{EARLY}/{name}.nmconnection"), text)
    };
    let mut machine = machine("").card("ens9", "52:54:00:00:00:09");
    for (path, text) in [
        profile("bond9", ""),
        profile("ens4", "controller=bond9\n"),
        profile("ens9", "master=bond9-uuid\n"),
        profile("ens8", ""),
    ] {
        machine = machine.file(&path, &text);
    }
    machine.boot().exits(0);
    assert_eq!(machine.early(), ["ens3", "ens3.100", "ens4", "ens8"]);
}

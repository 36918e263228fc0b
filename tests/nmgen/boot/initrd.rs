//! The archive of `nmgen generate --to initrd`, unpacked like the kernel does: each machine gets the profiles that `nmgen
//! generate` writes for its host.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use tests::machine::Machine;
use tests::{
    program::{self, Exits as _},
    skip,
};

/// A host of a source, and its machine.
struct Case {
    host: &'static str,
    machine: Machine,
    reason: &'static str,
}

fn case(host: &'static str, machine: Machine, reason: &'static str) -> Case {
    Case { host, machine, reason }
}

fn generate(arguments: &[&str], source: &Path, output: &Path) {
    let mut command = Command::new(program::nmgen());
    command.arg("generate").args(arguments).arg("-o").arg(output).arg(source);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{source:?}: {}", output.err());
}

fn unpack(archive: &Path, machine: &Machine) {
    let cpio = Command::new("cpio")
        .args(["-id", "--quiet"])
        .current_dir(machine.path(""))
        .stdin(Stdio::from(fs::File::open(archive).unwrap()))
        .status();
    assert!(cpio.unwrap().success());
}

/// The default profile's line.
const GIVES_WAY: &str = "nmgen: /run/NetworkManager/system-connections/default_connection.nmconnection gives way to it\n";

/// Unpacks the source's archive into each machine, lets it boot, and compares.
fn all_take_theirs(source: &Path, cases: &[Case]) {
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let (archive, expected) = (place.path().join("archive"), Machine::new());
    generate(&["--to", "initrd"], source, &archive);
    generate(&[], source, &expected.path("out"));
    for Case { host, machine, reason } in cases {
        unpack(&archive, machine);
        let said = machine.boot();
        let expected = expected.files(&format!("out/{host}"));
        let (count, plural) = (expected.len(), if expected.len() == 1 { "" } else { "s" });
        assert!(count > 0, "{source:?}: {host}");
        let name = if *host == "cluster" { "one of the cluster" } else { host };
        let line = format!(
            "nmgen: this machine is {name} ({reason}): {count} profile{plural} from \
             /etc/nmgen/{host}.yml\n{GIVES_WAY}"
        );
        assert_eq!((said.code, &said.console), (Some(0), &line), "{source:?}: {host}");
        assert_eq!(machine.staged_as_generated(), expected, "{source:?}: {host}");
    }
}

fn cards(first: &str, second: &str) -> Machine {
    Machine::new().card("eno1", first).card("eno2", second)
}

#[tests::case]
fn hosts_of_every_source_are_found_by_their_cards() {
    for (source, master, worker) in [
        ("hosts", "master-0", "worker-0"),
        ("install-config.yaml", "master-0", "worker-0"),
        ("agent-config.yaml", "master-0", "worker-0"),
        ("bare-metal-hosts.yaml", "master-0", "worker-0"),
        ("nmstate-configs.yaml", "master-0", "worker-0"),
        ("machine-configs.yaml", "master-0", "worker-0"),
        ("policies.yaml", "master-0", "worker-0"),
        ("assisted", "host0", "host1"),
    ] {
        let source = program::root().join("tests/fixtures/sources").join(source);
        let cases = [
            case(
                master,
                cards("52:54:00:00:00:01", "52:54:00:00:00:02"),
                "eno1 has the MAC address 52:54:00:00:00:01",
            ),
            case(
                worker,
                cards("52:54:00:00:01:01", "52:54:00:00:01:02"),
                "eno1 has the MAC address 52:54:00:00:01:01",
            ),
        ];
        all_take_theirs(&source, &cases);
    }
}

/// A document keeps its name, whatever form of identity it is.
#[tests::case]
fn hosts_of_a_directory_are_found_by_what_their_files_are_named_after() {
    let hosts = tempfile::tempdir().unwrap();
    let names = [
        "worker-0",
        "52-54-00-00-00-07",
        "52-54-77",
        "CZ3D1X0GBV",
        "cluster",
        "worker-1.example.org",
    ];
    for (index, name) in names.iter().enumerate() {
        // The MTU differs.
        let text = format!("interfaces: [{{name: ens3, type: ethernet, mtu: {}}}]\n", 1400 + index);
        fs::write(hosts.path().join(format!("{name}.yml")), text).unwrap();
    }
    let machine = |mac: &str| Machine::new().card("ens3", mac);
    let other = "02:00:00:00:00:01";
    let cases = [
        case(
            "worker-0",
            machine(other).file("proc/sys/kernel/hostname", "worker-0.example.org\n"),
            "its host name is worker-0.example.org",
        ),
        case(
            "worker-1.example.org",
            machine(other).file("proc/sys/kernel/hostname", "worker-1.example.org\n"),
            "its host name is worker-1.example.org",
        ),
        case(
            "52-54-00-00-00-07",
            machine("52:54:00:00:00:07"),
            "ens3 has the MAC address 52:54:00:00:00:07",
        ),
        case(
            "52-54-77",
            machine("52:54:77:01:02:03"),
            "the MAC address of ens3 begins with 52:54:77",
        ),
        case(
            "CZ3D1X0GBV",
            machine(other).file("sys/class/dmi/id/product_serial", "CZ3D1X0GBV\n"),
            "its serial number is CZ3D1X0GBV",
        ),
        case("cluster", machine(other), "no host file matches"),
    ];
    all_take_theirs(hosts.path(), &cases);
}

/// A host with a boot address beside its document is one host, whichever address finds it, and keeps its name.
#[tests::case]
fn a_host_with_a_boot_address_is_found_once() {
    let host = |name: &str, mac: &str, address: &str, more: &str| {
        format!(
            "    - name: {name}\n      role: worker\n      bootMACAddress: {mac}\n      \
             networkConfig:\n        interfaces:\n        - name: ens3\n          type: ethernet\n          \
             ipv4: {{enabled: true, address: [{{ip: {address}, prefix-length: 24}}]}}\n{more}"
        )
    };
    let second = "        - {name: ens4, type: ethernet, mac-address: '52:54:00:00:00:42'}\n";
    let text = format!(
        "apiVersion: v1\nkind: InstallConfig\nmetadata: {{name: lab}}\nplatform:\n  baremetal:\n    \
         hosts:\n{}{}",
        host("worker-0", "52:54:00:00:00:07", "192.0.2.10", ""),
        host("worker-1", "52:54:00:00:00:41", "192.0.2.11", second),
    );
    let source = Machine::new().file("install-config.yaml", &text);
    let machine = |mac: &str| Machine::new().card("ens3", mac);
    let boot = "52:54:00:00:00:07";
    let cases = [
        case("worker-0", machine(boot), "ens3 has the MAC address 52:54:00:00:00:07"),
        // By two addresses, or by the other one after a card was replaced.
        case(
            "worker-0",
            machine(boot).file("proc/sys/kernel/hostname", "worker-0\n"),
            "ens3 has the MAC address 52:54:00:00:00:07",
        ),
        case(
            "worker-0",
            machine("02:00:00:00:00:01").file("proc/sys/kernel/hostname", "worker-0\n"),
            "its host name is worker-0",
        ),
        case(
            "worker-0",
            machine("02:00:00:00:00:01").command_line("nmgen.timeout=0 nmgen.host=worker-0"),
            "nmgen.host= names it",
        ),
        case(
            "worker-0",
            machine(boot).command_line("nmgen.timeout=0 nmgen.host=52-54-00-00-00-07"),
            "nmgen.host= names it",
        ),
        // The boot address and an address of the document belong to one host.
        case(
            "worker-1",
            machine("52:54:00:00:00:41").card("ens4", "52:54:00:00:00:42"),
            "ens3 has the MAC address 52:54:00:00:00:41",
        ),
        case(
            "worker-1",
            machine("02:00:00:00:00:01").card("ens4", "52:54:00:00:00:42"),
            "ens4 has the MAC address 52:54:00:00:00:42",
        ),
    ];
    all_take_theirs(&source.path("install-config.yaml"), &cases);
    // A machine with cards of two hosts is a conflict of exactly these two.
    generate(&["--to", "initrd"], &source.path("install-config.yaml"), &source.path("archive"));
    let both = machine("52:54:00:00:00:07").card("ens4", "52:54:00:00:00:42");
    unpack(&source.path("archive"), &both);
    let said = both.boot().exits(2);
    let expected = "nmgen: two documents match this machine: /etc/nmgen/worker-0.yml (ens3 has the MAC \
                    address 52:54:00:00:00:07) and /etc/nmgen/worker-1.yml (ens4 has the MAC address \
                    52:54:00:00:00:42); choose one with nmgen.host=; ";
    assert!(said.console.starts_with(expected), "{said:?}");
}

/// The archive has one document a host, and no name of a host twice.
#[tests::case]
fn the_archive_holds_what_boot_needs_and_no_more() {
    let text = "\
apiVersion: v1
kind: InstallConfig
metadata: {name: lab}
platform:
  baremetal:
    hosts:
    - name: worker-0
      bootMACAddress: 52:54:00:00:00:07
      networkConfig: {interfaces: [{name: ens3, type: ethernet}]}
";
    let source = Machine::new().file("install-config.yaml", text);
    generate(&["--to", "initrd"], &source.path("install-config.yaml"), &source.path("archive"));
    let archive = fs::read(source.path("archive")).unwrap();
    let archive = String::from_utf8(archive).unwrap();
    // Names end with a NUL and are padded to four bytes; a link's content is where it leads.
    let entries: BTreeMap<&str, &str> = archive
        .split("070701")
        .skip(1)
        .map(|entry| {
            let (name, content) = entry[104..].split_once('\0').unwrap();
            (name, content.trim_matches('\0'))
        })
        .collect();
    let names: Vec<&str> = entries.keys().copied().collect();
    let (link, host) = ("etc/nmgen/52-54-00-00-00-07.yml", "etc/nmgen/worker-0.yml");
    assert_eq!(names, ["TRAILER!!!", "etc", "etc/nmgen", link, host]);
    assert_eq!(entries[link], "worker-0.yml");
}

/// The archive has the cards that only the source's map gives an address, and `nmgen boot` finds them under other names.
#[tests::case]
fn cards_of_the_map_that_a_document_only_refers_to_are_in_the_archive() {
    skip::unless_installed("cpio", "cpio");
    let place = tempfile::tempdir().unwrap();
    let (archive, source) = (place.path().join("archive"), place.path().join("worker-0.yaml"));
    let text = "apiVersion: agent-install.openshift.io/v1beta1\nkind: NMStateConfig\nmetadata: {name: worker-0}\nspec:\n  \
                interfaces:\n  - {name: eth0, macAddress: '52:54:00:00:00:01'}\n  config:\n    interfaces:\n    - name: \
                eth0.5\n      type: vlan\n      vlan: {base-iface: eth0, id: 5}\n      ipv4: {enabled: true, dhcp: true}\n";
    fs::write(&source, text).unwrap();
    generate(&["--to", "initrd"], &source, &archive);
    let machine = Machine::with_card();
    unpack(&archive, &machine);
    let said = machine.boot().exits(0);
    assert_eq!(machine.early(), ["ens3", "ens3.5"], "{said:?}");
}

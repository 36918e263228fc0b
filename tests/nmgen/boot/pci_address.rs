//! `identifier: pci-address`: the profile matches udev's path of the card, under any name.

use std::os::unix::fs::symlink;
use std::thread;
use std::time::{Duration, Instant};

use tests::machine::{EARLY, Machine, RUNNING, STAGED};

/// Long, so that a wait fails the case by its duration.
const LONG: &str = "nmgen.host=worker-0 nmgen.timeout=120\n";
const SOON: Duration = Duration::from_secs(30);
const DOCUMENT: &str = "\
routes:
  config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: port0}]
interfaces:
- name: port0
  type: ethernet
  identifier: pci-address
  pci-address: '0000:18:00.0'
  mac-address: 52:54:00:00:00:0a
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- {name: port0.7, type: vlan, vlan: {base-iface: port0, id: 7}}
";

/// A card at a PCI address.
fn plug(machine: &Machine, name: &str, address: &str) {
    let device = format!("sys/devices/{address}");
    machine.write(&format!("{device}/uevent"), "");
    machine.write(&format!("sys/class/net/{name}/address"), "52:54:00:00:00:02\n");
    let link = machine.path(&format!("sys/class/net/{name}/device"));
    symlink(machine.path(&device), link).unwrap();
}

/// The card's profile, which the VLAN refers to by its uuid.
fn expect_profiles(machine: &Machine, card: &str) {
    assert_eq!(machine.early(), [card.to_owned(), format!("{card}.7")]);
    for directory in [EARLY, STAGED] {
        let profile = machine.read(&format!("{directory}/{card}.nmconnection"));
        assert!(profile.contains("\npath=pci-0000:18:00.0\n"), "{profile}");
        // The address is one to set.
        assert!(
            profile.contains("\ncloned-mac-address=52:54:00:00:00:0A\n")
                && !profile.contains("\nmac-address=")
                && !profile.contains("\ninterface-name="),
            "{profile}"
        );
        let vlan = machine.read(&format!("{directory}/{card}.7.nmconnection"));
        let uuid = profile.lines().find_map(|line| line.strip_prefix("uuid=")).unwrap();
        assert!(vlan.contains(&format!("\nparent={uuid}\n")), "{vlan}");
    }
}

#[tests::case]
fn a_card_is_found_by_its_place() {
    let start = Instant::now();
    // Another card has the name that the document gives this one.
    let machine = Machine::new()
        .card("port0", "52:54:00:00:00:01")
        .command_line(LONG)
        .host("worker-0", DOCUMENT);
    plug(&machine, "ens1f0", "0000:18:00.0");
    let said = machine.boot();
    assert!(said.code == Some(0) && start.elapsed() < SOON, "{said:?}");
    assert!(said.console.contains("; port0 is ens1f0; port0.7 is ens1f0.7\n"), "{said:?}");
    expect_profiles(&machine, "ens1f0");
    let settings = machine.read("run/NetworkManager/conf.d/20-nmgen.conf");
    assert!(settings.contains("except:interface-name:=ens1f0;"), "{settings}");
    // The device's own link leads to virtio's bus; udev's path, which NetworkManager matches, does not.
    let machine = Machine::with_card().command_line(LONG).host("worker-0", DOCUMENT);
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\nE:ID_PATH=pci-0000:18:00.0\n");
    machine.boot().exits(0);
    expect_profiles(&machine, "ens3");
}

#[tests::case]
fn the_wait_ends_when_the_card_comes() {
    let machine = Machine::with_card().command_line(LONG).host("worker-0", DOCUMENT);
    machine.write("run/udev/control", "");
    machine.write("sys/class/net/ens3/ifindex", "2\n");
    machine.write("run/udev/data/n2", "I:1\n");
    let start = Instant::now();
    let said = thread::scope(|scope| {
        scope.spawn(|| {
            while !machine.read("dev/kmsg").contains("waiting for port0") && start.elapsed() < SOON
            {
                thread::sleep(Duration::from_millis(5));
            }
            plug(&machine, "ens1f0", "0000:18:00.0");
            machine.write("sys/class/net/ens1f0/ifindex", "3\n");
            machine.write("run/udev/data/n3", "I:1\n");
            machine.write("run/udev/queue", "");
            std::fs::remove_file(machine.path("run/udev/queue")).unwrap();
        });
        machine.boot()
    });
    assert!(said.code == Some(0) && start.elapsed() < SOON, "{said:?}");
    expect_profiles(&machine, "ens1f0");
}

/// The profile matches the card once it comes, and no other one stands for it.
#[tests::case]
fn a_card_that_never_comes_is_done_without() {
    let document = format!("{DOCUMENT}- {{name: ens3, type: ethernet}}\n");
    let machine = Machine::with_card().host("52-54-00-00-00-01", &document);
    let said = machine.boot().exits(0);
    assert!(said.kernel.contains("<4>nmgen: port0 did not appear within 0 s"), "{said:?}");
    assert_eq!(machine.early(), ["ens3", "port0", "port0.7"]);
    let profile = machine.read(&format!("{STAGED}/port0.nmconnection"));
    assert!(profile.contains("\npath=pci-0000:18:00.0\n"), "{profile}");
    let machine = Machine::with_card().host("52-54-00-00-00-01", DOCUMENT);
    machine.boot().exits(1);
    assert!(machine.is_untouched());
}

/// The id of its profile tells the card: a name of the profile's own is the document's alone.
#[tests::case]
fn a_profile_has_the_name_of_its_card() {
    let document =
        DOCUMENT.replace("  type: ethernet\n", "  type: ethernet\n  profile-name: lan\n");
    let machine = Machine::new().command_line(LONG).host("worker-0", &document);
    plug(&machine, "ens1f0", "0000:18:00.0");
    machine.boot().exits(0);
    expect_profiles(&machine, "ens1f0");
}

/// The running system's own profile for the card, by its name.
#[tests::case]
fn the_systems_own_profile_is_not_doubled() {
    for (name, expected) in [("ens1f0", &["own"][..]), ("eno9", &["ens1f0", "ens1f0.7", "own"][..])]
    {
        let own = format!(
            "[connection]\nid=own\nuuid=own\ntype=ethernet\ninterface-name={name}\n\n\
             [ipv4]\nmethod=manual\naddress1=198.51.100.9/24\n"
        );
        let machine = Machine::new()
            .command_line("nmgen.host=worker-0 nmgen.timeout=0\n")
            .host("worker-0", DOCUMENT)
            .file(&format!("{RUNNING}/own.nmconnection"), &own);
        plug(&machine, "ens1f0", "0000:18:00.0");
        for said in [machine.boot(), machine.persist()] {
            assert_eq!(said.code, Some(0), "{said:?}");
        }
        assert_eq!(machine.profiles(RUNNING), expected);
    }
}

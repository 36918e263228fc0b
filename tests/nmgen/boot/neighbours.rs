//! Profiles of others beside the document's: those of the kernel command line, and those that a person gave the initramfs. None of
//! them is lost on the way to the running system.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tests::machine::{EARLY, Machine, RUNNING};
use tests::program::{self, Exits as _};

const DOCUMENT: &str = "\
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eth0}]}
interfaces:
- name: eth0
  type: ethernet
  mac-address: 52:54:00:00:00:01
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
";
const TEARDOWN: &str = "usr/sbin/coreos-teardown-initramfs";
/// A static bond, as `coreos-installer --copy-network` brings it.
const OWN_BOND: [(&str, &str); 2] = [
    (
        "office",
        "[connection]\nid=office\nuuid=6f1d8a10-6d0c-4a0e-a7a1-0f3f3a2b1c4d\ntype=bond\ninterface-name=bond9\n[ipv4]\n\
         method=manual\naddress1=203.0.113.9/24,203.0.113.1\n",
    ),
    (
        "office-port",
        "[connection]\nid=office-port\nuuid=6f1d8a10-6d0c-4a0e-a7a1-0f3f3a2b1c4e\ntype=ethernet\ninterface-name=ens3\n\
         master=bond9\nslave-type=bond\n",
    ),
];

/// A machine with three cards whose profiles are those of the real generator.
fn machine(line: &str) -> Machine {
    let machine = Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .card("ens5", "52:54:00:00:00:03")
        .file("proc/sys/kernel/hostname", "worker-0\n")
        .command_line(&format!("nmgen.timeout=0 rd.neednet=1 ignition.firstboot {line}\n"))
        .host("worker-0", DOCUMENT)
        .file(TEARDOWN, "");
    generate(&machine, line);
    machine
}

fn generate(machine: &Machine, line: &str) {
    let directory = machine.path(EARLY);
    std::fs::remove_dir_all(&directory).unwrap();
    let mut command = Command::new(program::initrd_generator());
    command.arg("-c").arg(&directory).arg("-i").arg(machine.path("run/NetworkManager/initrd"));
    command.arg("-r").arg(machine.path("run/NetworkManager")).arg("--");
    let line = if line.contains("ip=") { line.to_owned() } else { format!("ip=auto {line}") };
    command.args(line.split(' ')).arg("rd.neednet=1").output().unwrap().exits(0);
}

/// The lines of both steps.
fn booted(machine: &Machine) -> String {
    let mut said = String::new();
    for step in [machine.boot(), machine.persist()] {
        assert_eq!(step.code, Some(0), "{step:?}");
        said.push_str(&step.kernel);
    }
    said
}

const STATIC: &str = "ip=198.51.100.9::198.51.100.1:255.255.255.0::ens4:none";

#[tests::case]
fn where_coreos_would_hand_a_profile_over_it_is_handed_over_beside_ours() {
    let machine = machine(STATIC);
    let given = machine.read(&format!("{EARLY}/ens4.nmconnection"));
    let said = booted(&machine);
    assert_eq!(machine.profiles(RUNNING), ["ens3", "ens4"], "{said}");
    assert_eq!(machine.read(&format!("{RUNNING}/ens4.nmconnection")), given);
    assert!(said.contains("got the initramfs's other profiles too: ens4\n"), "{said}");
    // With a network root the running system's NetworkManager finds the card under the uuid that it has.
    let disk = self::machine(&format!(
        "{STATIC} netroot=iscsi:198.51.100.1::::iqn.2024-01.org.example:disk"
    ));
    booted(&disk);
    assert_eq!(disk.profiles(RUNNING), ["ens3", "ens4"]);
}

#[tests::case]
fn without_coreoss_teardown_they_stay_where_they_are() {
    for (line, removed) in [("", Some(TEARDOWN)), ("coreos.no_persist_ip", None)] {
        let machine = machine(&format!("{STATIC} {line}"));
        if let Some(path) = removed {
            std::fs::remove_file(machine.path(path)).unwrap();
        }
        let said = booted(&machine);
        assert_eq!(machine.profiles(RUNNING), ["ens3"], "{said}");
        assert_eq!(machine.profiles(EARLY), ["ens4"], "{said}");
    }
}

/// Without nmgen CoreOS copies nothing either.
#[tests::case]
fn the_default_profile_and_loopback_are_not_handed_over() {
    let machine = machine("").file(
        &format!("{EARLY}/lo.nmconnection"),
        "[connection]\nid=lo\ntype=loopback\ninterface-name=lo\n",
    );
    let said = booted(&machine);
    assert_eq!(machine.profiles(RUNNING), ["ens3"], "{said}");
    // A system that has a network of its own gets none of them.
    let machine = self::machine(&format!("{STATIC} nmgen.persist=1"))
        .file("sysroot/etc/sysconfig/network-scripts/ifcfg-ens5", "ONBOOT=yes\n");
    let said = booted(&machine);
    assert_eq!(machine.profiles(RUNNING), ["ens3"], "{said}");
}

/// A boot that was cut off leaves a part of them; the next first boot completes it.
#[tests::case]
fn a_second_first_boot_hands_the_rest_over() {
    let machine = machine(&format!("{STATIC} ip=ens5:dhcp"));
    booted(&machine);
    let whole = machine.profiles(RUNNING);
    assert_eq!(whole, ["ens3", "ens4", "ens5"]);
    for left in [vec!["ens3"], vec!["ens3", "ens4"], vec!["ens4"]] {
        for name in &whole {
            if !left.contains(&name.as_str()) {
                std::fs::remove_file(machine.path(&format!("{RUNNING}/{name}.nmconnection")))
                    .unwrap();
            }
        }
        for mark in ["persisted", "persisted.sha256"] {
            std::fs::remove_file(machine.path(&format!("sysroot/etc/nmgen/{mark}"))).unwrap();
        }
        generate(&machine, &format!("{STATIC} ip=ens5:dhcp"));
        let said = booted(&machine);
        assert_eq!(machine.profiles(RUNNING), whole, "{left:?} {said}");
    }
}

/// The root disk may be behind any card.
#[tests::case]
fn the_default_profile_stays_where_the_root_is_on_the_network() {
    let wide = DOCUMENT;
    let narrow = DOCUMENT.replace("0.0.0.0/0", "203.0.113.0/24");
    let policy =
        DOCUMENT.replace("destination: 0.0.0.0/0,", "table-id: 200, destination: 0.0.0.0/0,");
    for (line, document, stays) in [
        ("netroot=iscsi:192.0.2.1::::iqn.2024-01.org.example:disk ip=dhcp", wide, true),
        ("root=nfs:192.0.2.1:/srv ip=dhcp", wide, true),
        ("root=dhcp ip=dhcp", wide, true),
        ("iscsi_firmware ip=dhcp", wide, true),
        ("coreos.live.rootfs_url=https://192.0.2.1/rootfs.img", wide, true),
        ("root=live:https://192.0.2.1/rootfs.img", wide, true),
        ("", wide, false),
        // Without a way out of the document's networks Ignition's server is behind another card.
        ("", &narrow, true),
        ("", &policy, true),
    ] {
        let machine = machine(line).host("worker-0", document);
        let said = machine.boot().exits(0);
        let expected: &[&str] = if stays { &["default_connection", "ens3"] } else { &["ens3"] };
        assert_eq!(machine.profiles(EARLY), expected, "{line}: {said:?}");
        // NetworkManager waits for the carrier of the cards that it is for.
        assert_eq!(machine.has("run/NetworkManager/conf.d/20-nmgen.conf"), !stays, "{line}");
        let warning = "<4>nmgen: no profile is left for ens4, ens5 in the initramfs\n";
        assert_eq!(said.kernel.contains(warning), !stays, "{line}: {said:?}");
    }
}

/// The storage network's lease is waited for, beside a static default route too.
#[tests::case]
fn a_network_root_waits_for_addresses() {
    let dynamic = format!(
        "{DOCUMENT}- {{name: eth1, type: ethernet, mac-address: '52:54:00:00:00:02', ipv4: {{enabled: true, dhcp: true}}}}\n"
    );
    for (line, waits) in [("root=nfs:192.0.2.1:/srv ip=dhcp", true), ("", false)] {
        let machine = machine(line).host("worker-0", &dynamic);
        machine.boot().exits(0);
        let early = machine.read(&format!("{EARLY}/ens4.nmconnection"));
        assert_eq!(early.contains("method=link-local"), !waits, "{early}");
        assert!(early.contains("dhcp-timeout=90\n"), "{early}");
    }
}

#[tests::case]
fn a_persons_profiles_are_not_displaced_but_handed_over() {
    let bond = OWN_BOND.iter().fold(machine(""), |machine, (name, text)| {
        machine.file(&format!("{EARLY}/{name}.nmconnection"), text)
    });
    let text = bond.read(&format!("{EARLY}/office.nmconnection"));
    let said = booted(&bond);
    let warning = "<4>nmgen: ens3 of /etc/nmgen/worker-0.yml left out: somebody gave this initramfs profiles for the same (ens3)\n";
    assert!(said.contains(warning), "{said}");
    assert!(bond.profiles(EARLY).contains(&"office".to_owned()), "{said}");
    assert_eq!(bond.read(&format!("{EARLY}/office.nmconnection")), text);
    assert_eq!(bond.profiles(RUNNING), [""; 0], "{said}");
    // Beside a document for another card both reach the running system.
    let other = DOCUMENT.replace("52:54:00:00:00:01", "52:54:00:00:00:02");
    let bond =
        OWN_BOND.iter().fold(machine("").host("worker-0", &other), |machine, (name, text)| {
            machine.file(&format!("{EARLY}/{name}.nmconnection"), text)
        });
    let said = booted(&bond);
    assert_eq!(bond.profiles(RUNNING), ["ens4", "office", "office-port"], "{said}");
}

/// nmstate's uuid depends on name and type alone: it does not make a person's profile the document's.
#[tests::case]
fn a_uuid_alone_does_not_make_a_profile_ours() {
    let text = "[connection]\nid=mine\nuuid=eb167dc3-77c6-5e5b-94a7-7ca659590917\ntype=ethernet\ninterface-name=ens3\n[ipv4]\nmethod=auto\n";
    let machine = machine("").file(&format!("{EARLY}/mine.nmconnection"), text);
    let said = machine.boot().exits(0);
    assert_eq!(machine.read(&format!("{EARLY}/mine.nmconnection")), text);
    assert!(!machine.profiles(EARLY).contains(&"ens3".to_owned()), "{said:?}");
}

/// Others' profiles that gave way are as before where the running system gets nothing of the document.
#[tests::case]
fn what_gave_way_is_back_where_nothing_is_handed_over() {
    let line = "ip=192.0.2.77::192.0.2.1:255.255.255.0::ens3:none nmgen.persist=0";
    let machine = machine(line);
    let before = machine.files(EARLY);
    let said = booted(&machine);
    assert_eq!(machine.files(EARLY), before, "{said}");
    assert_eq!(machine.profiles(RUNNING), [""; 0]);
}

#[tests::case]
fn name_servers_and_routes_of_the_command_line_do_not_vanish() {
    let line = "nameserver=192.0.2.53 nameserver=2001:db8::53 rd.route=203.0.113.0/24:192.0.2.9";
    let machine = machine(line);
    let said = booted(&machine);
    assert!(
        said.contains(
            "the document has no name server: the initramfs has 192.0.2.53 of nameserver=\n"
        ),
        "{said}"
    );
    assert!(
        said.contains("rd.route= goes with the profiles that give way: 203.0.113.0/24,192.0.2.9\n"),
        "{said}"
    );
    // CoreOS would hand this default profile over.
    assert_eq!(machine.profiles(RUNNING), ["default_connection", "ens3"], "{said}");
    let machine = self::machine(line);
    machine.boot().exits(0);
    let early = machine.read(&format!("{EARLY}/ens3.nmconnection"));
    assert!(early.contains("dns=192.0.2.53;\n"), "{early}");
    // The document's own name servers are the only ones.
    let own = format!("dns-resolver: {{config: {{server: [192.0.2.54]}}}}\n{DOCUMENT}");
    let machine = machine.host("worker-0", &own);
    generate(&machine, line);
    let said = machine.boot();
    assert!(!said.kernel.contains("of nameserver="), "{said:?}");
    let early = machine.read(&format!("{EARLY}/ens3.nmconnection"));
    assert!(early.contains("192.0.2.54") && !early.contains("192.0.2.53"), "{early}");
}

/// NetworkManager waits for the carrier of all cards that a profile is for.
#[tests::case]
fn cards_of_other_profiles_get_their_time_for_a_carrier() {
    let machine = machine(&format!("{STATIC} vlan=ens5.7:ens5 ip=ens5.7:dhcp"));
    machine.boot().exits(0);
    let settings = machine.read("run/NetworkManager/conf.d/20-nmgen.conf");
    for name in ["ens3", "ens4", "ens5.7", "ens5"] {
        assert!(
            settings.contains(&format!("except:interface-name:={name};")),
            "{name}: {settings}"
        );
    }
}

/// The generator's profiles by each argument that makes one: file names, ids, the mark, and how a port or a VLAN names the other.
/// Those for a card of the document give way with all that is connected; the rest stays as it is.
#[tests::case]
fn every_form_of_the_generators_profiles_is_known_as_its_own() {
    const DEFAULT: &str = "default_connection";
    const BOOTIF: &str = "bootif_connection";
    // Arguments; the generator's profiles; those of them that stay; those that the running system gets.
    type Row =
        (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);
    const ROWS: [Row; 17] = [
        ("ip=auto", &[DEFAULT], &[], &[]),
        ("ip=dhcp rd.net.timeout.dhcp=20", &[DEFAULT], &[], &[]),
        ("ip=auto nameserver=192.0.2.53", &[DEFAULT], &[], &[DEFAULT]),
        ("ip=auto rd.peerdns=0", &[DEFAULT], &[], &[DEFAULT]),
        ("ip=auto BOOTIF=01-52-54-00-00-00-01", &[DEFAULT], &[], &[]),
        ("ip=auto BOOTIF=01-52-54-00-00-00-02", &[DEFAULT], &[DEFAULT], &[]),
        ("ip=ens4:dhcp BOOTIF=01-52-54-00-00-00-01", &[BOOTIF, "ens4"], &["ens4"], &["ens4"]),
        (
            "ip=ens4:dhcp BOOTIF=01-52-54-00-00-00-03",
            &[BOOTIF, "ens4"],
            &[BOOTIF, "ens4"],
            &[BOOTIF, "ens4"],
        ),
        ("ip=52-54-00-00-00-01:dhcp", &["52:54:00:00:00:01"], &[], &[]),
        ("ip=ens3:dhcp ip=ens4:dhcp", &["ens3", "ens4"], &["ens4"], &["ens4"]),
        (
            "bond=bond9:ens3,ens5:mode=active-backup ip=bond9:dhcp",
            &["bond9", "ens3", "ens5"],
            &[],
            &[],
        ),
        (
            "bond=bond9:ens4,ens5 vlan=bond9.7:bond9 ip=bond9.7:dhcp",
            &["bond9", "bond9.7", "ens4", "ens5"],
            &["bond9", "bond9.7", "ens4", "ens5"],
            &["bond9", "bond9.7", "ens4", "ens5"],
        ),
        ("bridge=br9:ens3 ip=br9:dhcp", &["br9", "ens3"], &[], &[]),
        ("team=team9:ens3 ip=team9:dhcp", &["ens3", "team9"], &[], &[]),
        ("vlan=ens3.7:ens3 ip=ens3.7:dhcp", &["ens3", "ens3.7"], &[], &[]),
        (
            "vlan=vlan7:ens4 ip=192.0.2.9::192.0.2.1:24:worker-0:vlan7:none",
            &["ens4", "vlan7"],
            &["ens4", "vlan7"],
            &["ens4", "vlan7"],
        ),
        (
            "ip=ens5:dhcp rd.route=203.0.113.0/24:192.0.2.9:ens3",
            &["ens3", "ens5"],
            &["ens5"],
            &["ens5"],
        ),
    ];
    for (line, made, stays, given) in ROWS {
        let machine = machine(line);
        let names = machine.profiles(EARLY);
        assert_eq!(names, made, "{line}");
        for (path, text) in machine.files(EARLY) {
            assert!(text.contains("origin=nm-initrd-generator\n"), "{line}: {path}: {text}");
        }
        let first = machine.boot();
        assert_eq!(first.code, Some(0), "{line}: {first:?}");
        let with_ours = |names: &[&'static str]| {
            let mut names = [names, &["ens3"]].concat();
            names.sort_unstable();
            names
        };
        assert_eq!(machine.profiles(EARLY), with_ours(stays), "{line}: {first:?}");
        let gone = made.iter().filter(|name| !stays.contains(name));
        for name in gone {
            let told = format!("/{EARLY}/{name}.nmconnection gives way to it\n");
            assert_eq!(first.kernel.matches(&told).count(), 1, "{line}: {first:?}");
        }
        for other in ["somebody gave", "the root disk"] {
            assert!(!first.kernel.contains(other), "{line}: {first:?}");
        }
        let second = machine.persist();
        assert_eq!(second.code, Some(0), "{line}: {second:?}");
        assert_eq!(machine.profiles(RUNNING), with_ours(given), "{line}: {second:?}");
    }
}

/// As the teardown does, but for the document's own: a system with a network of its own gets the document's where it lacks one.
#[tests::case]
fn coreoss_arguments_for_the_hand_over_are_heeded() {
    let own = "[connection]\nid=own\ntype=ethernet\ninterface-name=ens5\n[ipv4]\nmethod=auto\n";
    let boot = |line: &str, first: &str| {
        let machine = machine(&format!("{STATIC} {line}"))
            .file(&format!("{RUNNING}/own.nmconnection"), own)
            .command_line(&format!("nmgen.timeout=0 rd.neednet=1 {first} {line}\n"));
        let own = machine.path(&format!("{RUNNING}/own.nmconnection"));
        std::fs::set_permissions(own, std::fs::Permissions::from_mode(0o600)).unwrap();
        let said = booted(&machine);
        (machine.profiles(RUNNING), machine.profiles(EARLY), said)
    };
    let first = "ignition.firstboot";
    let (running, early, said) = boot("", first);
    assert_eq!((running, early), (vec!["own".to_owned()], vec!["ens4".to_owned()]), "{said}");
    // The teardown copies what is still in /run.
    let (running, early, said) = boot("coreos.force_persist_ip", first);
    let expected = (vec!["ens3".to_owned(), "own".to_owned()], vec!["ens4".to_owned()]);
    assert_eq!((running, early), expected, "{said}");
    for (line, first) in [
        ("coreos.force_persist_ip=0", first),
        ("coreos.force_persist_ip coreos.no_persist_ip", first),
        ("coreos.force_persist_ip nmgen.persist=0", first),
        // Without a first boot there is no teardown.
        ("coreos.force_persist_ip", ""),
    ] {
        let (running, _, said) = boot(line, first);
        assert_eq!(running, ["own"], "{line}: {said}");
    }
}

/// The teardown looks for any file in ifcfg's directory but NetworkManager's own.
#[tests::case]
fn files_of_ifcfg_are_a_network_of_the_systems_own() {
    for (name, gets) in [("readme-ifcfg-rh.txt", true), ("route-ens5", false), ("ifcfg-lo", false)]
    {
        let machine = machine(STATIC)
            .file(&format!("sysroot/etc/sysconfig/network-scripts/{name}"), "text\n");
        let said = booted(&machine);
        let expected: &[&str] = if gets { &["ens3", "ens4"] } else { &["ens3"] };
        assert_eq!(machine.profiles(RUNNING), expected, "{name}: {said}");
        // The teardown copies it from there, or passes it over.
        assert_eq!(machine.profiles(EARLY), ["ens4"], "{name}: {said}");
    }
}

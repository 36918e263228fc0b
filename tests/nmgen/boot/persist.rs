//! The running system's profiles, and the cases without any.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tests::machine::{EARLY, Machine, RUNNING, STAGED};
use tests::skip;

const DOCUMENT: &str = "\
hostname: {config: worker-0}
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01, alt-names: [{name: uplink}]}
- name: eth0.100
  type: vlan
  vlan: {base-iface: eth0, id: 100}
  ipv4: {enabled: true, dhcp: true}
";
const MARK: &str = "sysroot/etc/nmgen/persisted";
/// Profiles for this boot, and how they get to NetworkManager.
const KEPT: &str = "run/nmgen-profiles";
const PLACES: &str = "run/tmpfiles.d/nmgen-profiles.conf";
/// A component goes to a system with a network of its own only on request.
const ASKED: &str = "nmgen.timeout=0 ignition.firstboot nmgen.persist=1\n";

fn booted() -> Machine {
    let machine = Machine::with_card().host("worker-0", DOCUMENT);
    machine.boot().exits(0);
    machine
}

/// Adds a profile of the running system's, as NetworkManager wants it: for root alone.
fn own(machine: &Machine, name: &str, text: &str) {
    let path = format!("{RUNNING}/{name}.nmconnection");
    machine.write(&path, text);
    std::fs::set_permissions(machine.path(&path), std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// Profiles for this boot are where nothing removes them, and systemd-tmpfiles brings each to NetworkManager.
fn are_kept(machine: &Machine, names: &[&str]) {
    assert_eq!(machine.profiles(KEPT), names);
    assert!(machine.profiles(EARLY).is_empty());
    let places = machine.read(PLACES);
    for name in names {
        let line = format!(
            "\nC \"/{EARLY}/{name}.nmconnection\" 0600 root root - /{KEPT}/{name}.nmconnection\n"
        );
        assert!(places.contains(&line), "{places}");
    }
}

fn mode(machine: &Machine, path: &str) -> u32 {
    std::fs::metadata(machine.path(path)).unwrap().permissions().mode() & 0o777
}

#[tests::case]
fn a_card_that_nobody_waits_for_has_no_duplicate_address_detection_before_the_pivot() {
    let switch = |card: &str| format!("proc/sys/net/ipv6/conf/{card}/accept_dad");
    let document = "\
routes: {config: [{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: ens3}]}
interfaces:
- name: ens3
  type: ethernet
  ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}
- {name: ens4, type: ethernet, ipv4: {enabled: true, dhcp: true}}
- {name: ens5, type: ethernet, ipv4: {enabled: true, dhcp: true}}
- {name: ens6, type: ethernet, ipv4: {enabled: true, dhcp: true}}
- {name: ens7, type: ethernet, ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: false}}
- {name: ens8, type: ethernet, ipv6: {enabled: true}}
";
    // Already off, and a kernel without the sysctl.
    let machine = Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .card("ens5", "52:54:00:00:00:03")
        .card("ens6", "52:54:00:00:00:04")
        .card("ens7", "52:54:00:00:00:05")
        .card("ens8", "52:54:00:00:00:06")
        .file("proc/sys/kernel/hostname", "worker-0\n")
        .host("worker-0", document)
        .file(&switch("ens3"), "1\n")
        .file(&switch("ens4"), "1\n")
        .file(&switch("ens5"), "0\n")
        .file(&switch("ens7"), "1\n")
        .file(&switch("ens8"), "1\n");
    let cards = ["ens3", "ens4", "ens5", "ens7", "ens8"];
    let all = |machine: &Machine| cards.map(|card| machine.read(&switch(card)));
    // A second run, as after a restart of the unit, keeps the original value.
    for _ in 0..2 {
        machine.boot().exits(0);
        assert_eq!(all(&machine), ["1\n", "0", "0\n", "1\n", "1\n"]);
    }
    assert!(!machine.has(&switch("ens6")));
    machine.persist().exits(0);
    assert_eq!(all(&machine), ["1\n", "1", "0\n", "1\n", "1\n"]);
}

#[tests::case]
fn the_first_boot_gives_it_what_the_document_asks_for() {
    let machine = booted();
    let staged = machine.files(STAGED);
    let said = machine.persist().exits(0);
    assert_eq!(said.console, "nmgen: the running system got 2 profiles\n");
    assert_eq!(machine.files(RUNNING), staged);
    assert_eq!(staged.len(), 2);
    for profile in machine.profiles(RUNNING) {
        assert_eq!(mode(&machine, &format!("{RUNNING}/{profile}.nmconnection")), 0o600);
    }
    assert_eq!(machine.read("sysroot/etc/hostname"), "worker-0\n");
    assert_eq!(mode(&machine, "sysroot/etc/hostname"), 0o644);
    assert!(machine.has("sysroot/etc/systemd/network/70-ens3.link"));
    assert!(machine.has(MARK));
    // The running system labels it.
    assert!(
        machine.read("run/tmpfiles.d/nmgen.conf").contains(&format!("\nZ /{}\n", &RUNNING[8..]))
    );
    // No file in /run that takes precedence over the running system's configuration.
    assert!(machine.profiles(EARLY).is_empty());
    assert!(!machine.has("run/NetworkManager/conf.d/20-nmgen.conf"));
    assert!(!machine.has("run/nmgen-boot"));
}

/// A disk that fails, or a file of another program's: more than any profile has.
#[tests::case]
fn a_profile_that_cannot_be_read_is_named_and_the_others_are_given() {
    let large = |path: &std::path::Path| {
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_len(17 << 20).unwrap();
    };
    let machine = booted();
    let vlan = format!("{STAGED}/ens3.100.nmconnection");
    let text = machine.read(&vlan);
    large(&machine.path(&vlan));
    let said = machine.persist().exits(0).says("ens3.100.nmconnection");
    assert!(said.console.contains("the running system got 1 profile"), "{said:?}");
    assert_eq!(machine.profiles(RUNNING), ["ens3"]);
    assert_eq!(machine.read("sysroot/etc/hostname"), "worker-0\n");
    assert!(machine.profiles(EARLY).is_empty() && !machine.has(MARK));
    // The next boot gives what is missing.
    machine.boot().exits(0);
    assert_eq!(machine.read(&vlan), text);
    machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["ens3", "ens3.100"]);
    assert!(machine.has(MARK));
}

#[tests::case]
fn later_boots_leave_it_alone() {
    let machine = booted();
    machine.persist().exits(0);
    let port = format!("{RUNNING}/ens3.nmconnection");
    machine.write(&port, "[connection]\nid=ens3\nmaster=br-ex\n");
    std::fs::remove_file(machine.path(&format!("{RUNNING}/ens3.100.nmconnection"))).unwrap();
    machine.boot().exits(0);
    assert_eq!(machine.profiles(EARLY), ["ens3", "ens3.100"]);
    let said = machine.persist().exits(0);
    assert_eq!(said.console, "nmgen: the running system got its profiles at an earlier boot\n");
    assert_eq!(machine.profiles(RUNNING), ["ens3"]);
    assert!(machine.read(&port).contains("br-ex"));
    assert!(machine.profiles(EARLY).is_empty());
}

#[tests::case]
fn what_it_has_already_is_its_own() {
    let uuid = "uuid=eb167dc3-77c6-5e5b-94a7-7ca659590917\n";
    let cases = [
        // nmgen's profile under another name: the rest of its network is missing.
        (
            format!("[connection]\nid=other\n{uuid}type=ethernet\n"),
            &["ens3.100", "other"][..],
            "nmgen: the running system has its own network for ens3\n\
             nmgen: the running system got 1 profile\n",
        ),
        (
            "[connection]\nid=other\ntype=ethernet\ninterface-name=ens3\n".to_owned(),
            &["other"],
            "nmgen: the running system has its own network for ens3.100, ens3\n",
        ),
    ];
    for (existing, profiles, console) in cases {
        let machine = booted()
            .command_line(ASKED)
            .file("sysroot/etc/hostname", "chosen-by-ignition\n")
            .file("sysroot/etc/systemd/network/70-ens3.link", "[Match]\n");
        own(&machine, "other", &existing);
        assert!(machine.read(&format!("{STAGED}/ens3.nmconnection")).contains(uuid));
        let said = machine.persist().exits(0);
        assert_eq!(said.console, console);
        assert_eq!(machine.profiles(RUNNING), profiles);
        assert_eq!(machine.read(&format!("{RUNNING}/other.nmconnection")), existing);
        assert_eq!(machine.read("sysroot/etc/hostname"), "chosen-by-ignition\n");
        assert_eq!(machine.read("sysroot/etc/systemd/network/70-ens3.link"), "[Match]\n");
        assert!(machine.profiles(EARLY).is_empty());
    }
    // An image's placeholder does not count as a host name.
    let machine = booted().file("sysroot/etc/hostname", "localhost.localdomain\n");
    machine.persist().exits(0);
    assert_eq!(machine.read("sysroot/etc/hostname"), "worker-0\n");
}

/// An existing profile stays, whatever its content.
#[tests::case]
fn a_profile_that_is_not_text_stays() {
    let machine = booted();
    std::fs::create_dir_all(machine.path(RUNNING)).unwrap();
    let path = machine.path(&format!("{RUNNING}/ens3.nmconnection"));
    std::fs::write(&path, b"[connection]\nid=K\xf6ln\n").unwrap();
    machine.persist().exits(0);
    assert_eq!(std::fs::read(&path).unwrap(), b"[connection]\nid=K\xf6ln\n");
}

/// The initramfs's own directories do not count as a running system.
#[tests::case]
fn without_a_root_they_are_kept_for_this_boot() {
    let machine = booted();
    let staged = machine.files(STAGED);
    for remains in ["sysroot/etc", "sysroot"] {
        std::fs::remove_dir_all(machine.path(remains)).unwrap();
        machine.boot().exits(0);
        let said = machine.persist().exits(1);
        let expected = "nmgen: no root file system is mounted at /sysroot; the running system may lack profiles\n";
        assert_eq!(said.console, expected);
        assert!(staged.iter().all(|(name, text)| machine.read(&format!("{KEPT}/{name}")) == *text));
        are_kept(&machine, &["ens3", "ens3.100"]);
        assert!(!machine.has("sysroot/etc") && !machine.has("run/nmgen-boot"));
    }
}

/// Before the pivot an absolute link in the running system leads into the initramfs.
#[tests::case]
fn a_link_out_of_the_root_is_not_followed() {
    for link in ["sysroot/etc", "sysroot/etc/NetworkManager", RUNNING] {
        let machine = booted().file("elsewhere/kept", "").file("sysroot/usr/kept", "");
        let path = machine.path(link);
        if link == "sysroot/etc" {
            std::fs::remove_dir_all(&path).unwrap();
        }
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(machine.path("elsewhere"), &path).unwrap();
        let said = machine.persist().exits(1);
        assert!(said.console.contains(&format!("/{link} ")), "{link}: {said:?}");
        assert_eq!(machine.files("elsewhere").into_keys().collect::<Vec<_>>(), ["kept"], "{link}");
        are_kept(&machine, &["ens3", "ens3.100"]);
    }
}

#[tests::case]
fn where_nothing_was_prepared_nothing_is_done() {
    let machine = Machine::with_card();
    let said = machine.persist();
    assert_eq!((said.code, said.console.as_str()), (Some(0), ""));
    assert!(machine.is_untouched());
    assert!(!machine.has(MARK));
}

#[tests::case]
fn a_read_only_root_keeps_them_for_this_boot() {
    let machine = booted();
    let staged = machine.files(STAGED);
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,bind,ro \"$1\" && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
    command.arg(machine.path("sysroot")).arg(machine.command().get_program());
    command.args(machine.command().get_args()).arg("--persist");
    let said = machine.run(&mut command);
    if said.console.contains("unshare: ") {
        skip::part(&format!("the read-only root: {}", said.console));
    }
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(
        said.console,
        "nmgen: the root file system is read-only: the profiles last for this boot\n"
    );
    // The document's own time limits, without the initramfs's bounds.
    assert_eq!(machine.files(KEPT), staged);
    are_kept(&machine, &["ens3", "ens3.100"]);
    assert!(!machine.has(RUNNING) && !machine.has(MARK));
}

#[tests::case]
fn a_root_that_cannot_be_written_is_said_and_keeps_them_too() {
    let machine = booted().file("sysroot/etc/NetworkManager", "not a directory");
    let said = machine.persist().exits(1);
    assert!(said.kernel.starts_with("<3>nmgen: cannot "), "{said:?}");
    assert!(said.kernel.ends_with("; the running system may lack profiles\n"), "{said:?}");
    are_kept(&machine, &["ens3", "ens3.100"]);
}

/// Each in `/etc` or for this boot, never both: NetworkManager prefers the one in `/run`.
#[tests::case]
fn profiles_that_are_there_are_not_kept_too() {
    // The mark, the host name and the links of the running system, each in the way.
    for path in ["sysroot/etc/nmgen", "sysroot/etc/systemd", "sysroot/etc/hostname/directory"] {
        let machine = booted().file(path, "not a directory");
        let staged = machine.files(STAGED);
        let said = machine.persist().exits(0);
        assert_eq!(machine.files(RUNNING), staged, "{path}");
        assert!(machine.profiles(EARLY).is_empty() && !machine.has(KEPT), "{path}");
        assert_eq!(said.kernel.matches("<4>").count(), 1, "{said:?}");
        assert!(
            said.kernel.starts_with("<6>nmgen: the running system got 2 profiles\n"),
            "{said:?}"
        );
        assert_eq!(machine.has(MARK), path != "sysroot/etc/nmgen");
    }
    // One profile's place is taken by a directory.
    let machine = booted().file(&format!("{RUNNING}/ens3.100.nmconnection/x"), "");
    machine.persist().exits(1);
    let placed = machine.profiles(RUNNING);
    let kept = machine.profiles(KEPT);
    assert!(placed.iter().all(|name| !kept.contains(name)), "{placed:?} {kept:?}");
    assert_eq!([placed, kept].concat(), ["ens3", "ens3.100"]);
}

/// An absolute link of the running system leads into the initramfs: neither is read nor replaced.
#[tests::case]
fn a_final_link_is_the_systems_own() {
    let machine = booted().file("elsewhere/hostname", "localhost\n");
    let link = machine.path("sysroot/etc/hostname");
    std::os::unix::fs::symlink(machine.path("elsewhere/hostname"), &link).unwrap();
    machine.persist().exits(0);
    assert!(link.is_symlink());
    assert_eq!(machine.read("elsewhere/hostname"), "localhost\n");
    assert_eq!(machine.profiles(RUNNING), ["ens3", "ens3.100"]);
}

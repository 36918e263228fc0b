//! The mark in the running system: for which host, document and machine it was made.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use tests::machine::{Machine, RUNNING};

const MARK: &str = "sysroot/etc/nmgen/persisted";
const LABELS: &str = "run/tmpfiles.d/nmgen.conf";
const UUID: &str = "sys/class/dmi/id/product_uuid";
const DOCUMENT: &str = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
";

/// A machine whose first boot is over.
fn marked() -> Machine {
    let machine = Machine::with_card()
        .file(UUID, "4c4c4544-0032-3510-8058-b6c04f564c32\n")
        .host("worker-0", DOCUMENT);
    machine.boot().exits(0);
    machine.persist().exits(0);
    machine
}

/// The lines of a later boot's second step.
fn later(machine: &Machine) -> String {
    machine.boot().exits(0);
    let said = machine.persist().exits(0);
    assert_eq!(machine.profiles(RUNNING), ["ens3"]);
    said.console
}

#[tests::case]
fn it_names_host_document_and_machine() {
    let machine = marked();
    let text = machine.read(MARK);
    let fields: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(fields[0], "host=worker-0");
    // sha256sum of the document.
    let mut sum = Command::new("sha256sum");
    let sum = sum.arg(machine.path("etc/nmgen/worker-0.yml")).output().unwrap().stdout;
    let sum = String::from_utf8(sum).unwrap();
    assert_eq!(fields[1], format!("document=sha256:{}", sum.split(' ').next().unwrap()));
    assert_eq!(fields[2], "machine=system UUID 4c4c4544-0032-3510-8058-b6c04f564c32");
    assert_eq!(fields[3], "addresses=52:54:00:00:00:01");
    // sha256sum --check, in the running system.
    let sum = Command::new("sha256sum")
        .arg(machine.path(&format!("{RUNNING}/ens3.nmconnection")))
        .output();
    let sum = String::from_utf8(sum.unwrap().stdout).unwrap();
    let digest = sum.split(' ').next().unwrap();
    let path = "/etc/NetworkManager/system-connections/ens3.nmconnection";
    assert_eq!(machine.read("sysroot/etc/nmgen/persisted.sha256"), format!("{digest}  {path}\n"));
    assert_eq!(later(&machine), "nmgen: the running system got its profiles at an earlier boot\n");
}

/// A digest of a profile and all of it but a short password tell the password to whoever tries.
#[tests::case]
fn digests_are_for_root_alone() {
    let machine = marked();
    for name in [MARK, "sysroot/etc/nmgen/persisted.sha256"] {
        let mode = fs::metadata(machine.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}: {mode:o}");
    }
    assert!(machine.read(LABELS).contains("\nz /etc/nmgen/persisted* 0600\n"));
}

/// The boot that wrote the files may have ended before it restored their labels.
#[tests::case]
fn labels_are_restored_at_each_boot_with_the_mark() {
    let machine = marked();
    let first = machine.read(LABELS);
    fs::remove_file(machine.path(LABELS)).unwrap();
    later(&machine);
    assert_eq!(machine.read(LABELS), first);
}

#[tests::case]
fn another_machine_document_or_host_is_a_warning() {
    let earlier = "nmgen: the running system got its profiles at an earlier boot";
    let remedy = "; remove /etc/nmgen/persisted to have missing ones written again\n";

    // A new board with the old card is the same machine; so is a new card in the old one.
    let board = "11111111-0032-3510-8058-b6c04f564c32\n";
    let card = |machine: Machine| machine.card("ens3", "52:54:00:00:00:09");
    let document = DOCUMENT.replace(":01}", ":09}");
    let again = format!("{earlier} from another text of worker-0.yml{remedy}");
    assert_eq!(later(&marked().file(UUID, board)), format!("{earlier}\n"));
    // Its profile has been edited, and nobody undoes that.
    let profile = format!("{RUNNING}/ens3.nmconnection");
    let edited = |machine: Machine| {
        let text = machine.read(&profile);
        machine.file(&profile, &format!("{text}# mine\n"))
    };
    let lost = format!(
        "nmgen: /{profile}: the profile is for another card than ens3, which has no network in the running system\n"
    );
    let machine = card(edited(marked())).host("worker-0", &document);
    assert_eq!(later(&machine), format!("{again}{lost}"));
    let machine = card(edited(marked())).host("worker-0", &document).file(UUID, board);
    let said = later(&machine);
    assert_eq!(
        said,
        format!(
            "{earlier} on another machine (system UUID 4c4c4544-0032-3510-8058-b6c04f564c32; this one \
             has system UUID 11111111-0032-3510-8058-b6c04f564c32){remedy}{lost}"
        )
    );

    let machine = marked().host("worker-0", &format!("{DOCUMENT}# changed\n"));
    assert_eq!(later(&machine), format!("{earlier} from another text of worker-0.yml{remedy}"));

    let machine = marked();
    fs::remove_file(machine.path("etc/nmgen/worker-0.yml")).unwrap();
    let machine = machine.host("worker-1", DOCUMENT);
    assert_eq!(
        later(&machine),
        format!("{earlier} as worker-0; this boot's document is worker-1{remedy}")
    );
}

/// Whatever it is, it is a mark: a second hand-over could undo what the system has made of the first.
#[tests::case]
fn a_damaged_mark_is_a_line() {
    type Damage = fn(&Path);
    let damages: [(&str, Damage); 7] = [
        ("half of it", |mark| fs::write(mark, b"\x01\x02host\n").unwrap()),
        ("empty", |mark| fs::write(mark, b"").unwrap()),
        ("no text", |mark| fs::write(mark, [0xff, 0xfe, 0, b'\n']).unwrap()),
        ("of any size", |mark| fs::File::create(mark).unwrap().set_len(1 << 40).unwrap()),
        ("a directory", |mark| fs::create_dir(mark).unwrap()),
        ("a link to nowhere", |mark| std::os::unix::fs::symlink("/none", mark).unwrap()),
        ("a FIFO", |mark| assert!(Command::new("mkfifo").arg(mark).status().unwrap().success())),
    ];
    for (what, damage) in damages {
        let machine = marked();
        let mark = machine.path(MARK);
        fs::remove_file(&mark).unwrap();
        damage(&mark);
        let said = later(&machine);
        assert_eq!(said.lines().count(), 1, "{what}: {said}");
        assert!(said.contains("does not say for which document"), "{what}: {said}");
    }
}

/// The disk's network at later boots: the archive of the first boot is gone.
#[tests::case]
fn a_network_without_the_document_is_a_warning() {
    let machine = marked();
    fs::remove_file(machine.path("etc/nmgen/worker-0.yml")).unwrap();
    let machine = machine.file("run/NetworkManager/initrd/neednet", "");
    machine.boot().exits(0);
    let said = machine.persist();
    assert_eq!(
        (said.code, said.console.as_str()),
        (
            Some(0),
            "nmgen: this initramfs has no document for this machine, and the running system has that of \
             worker-0: a disk that needs the network needs it in the initramfs of every boot, or as \
             kernel arguments\n"
        )
    );
    assert!(said.kernel.starts_with("<4>"), "{said:?}");
}

/// Clevis with Tang, and a root over NFS.
#[tests::case]
fn a_disk_on_the_network_is_a_warning_at_the_hand_over() {
    let warning = "nmgen: a disk of this machine needs the network at every boot: each boot's initramfs needs the \
                   document, or kernel arguments\n";
    let tang = "# /dev/sdb\nroot /dev/sda4 none luks,_netdev\n";
    for (crypttab, line, is_told) in [
        (tang, "", true),
        ("", "root=nfs:192.0.2.1:/srv", true),
        ("root /dev/sda4 none luks\n# root /dev/sda4 none _netdev\n", "", false),
    ] {
        let machine = Machine::with_card()
            .host("worker-0", DOCUMENT)
            .command_line(&format!("nmgen.timeout=0 rd.neednet=1 {line}\n"))
            .file("sysroot/etc/crypttab", crypttab);
        machine.boot().exits(0);
        let said = machine.persist().exits(0);
        assert_eq!(said.console.contains(warning), is_told, "{said:?}");
    }
}

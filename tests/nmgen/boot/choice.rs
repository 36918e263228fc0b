//! Selection of the directory, and of the document in it.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt};

use tests::machine::{EARLY, Machine, Said};
use tests::program::Exits as _;

use super::{marked, with_mac};

const FIRST: &str = "52:54:00:00:00:01";
const SECOND: &str = "52:54:00:00:00:02";
const UUID: &str = "4c4c4544-0042-3510-8054-b7c04f4b3332";

/// The machine of these cases: one card, and every other form of identity.
fn machine() -> Machine {
    Machine::with_card()
        .file("sys/class/dmi/id/product_serial", "CZ3D1X0GBV\n")
        .file("sys/class/dmi/id/product_uuid", &format!("{UUID}\n"))
        .file("proc/sys/kernel/hostname", "worker-0.example.org\n")
}

/// The virtual interface of the chosen document.
fn chosen(machine: &Machine) -> Option<String> {
    let profiles = machine.profiles(EARLY);
    profiles.into_iter().find(|name| !["default_connection", "ens3"].contains(&name.as_str()))
}

fn said(code: i32, level: u8, line: &str) -> Said {
    Said {
        code: Some(code),
        console: format!("nmgen: {line}\n"),
        kernel: format!("<{level}>nmgen: {line}\n"),
    }
}

fn failed(code: i32, line: &str) -> Said {
    said(code, 3, &format!("{line}; the boot goes on with the initramfs's own network"))
}

#[tests::case]
fn the_best_match_wins() {
    // Each matches this machine; the best match comes first.
    let documents = [
        ("named", marked("by-argument"), "nmgen.host= names it"),
        ("other", with_mac("by-mac", FIRST), "ens3 has the MAC address 52:54:00:00:00:01"),
        ("52-54-00-00", marked("by-prefix"), "the MAC address of ens3 begins with 52:54:00:00"),
        ("52-54-00", marked("by-oui"), "the MAC address of ens3 begins with 52:54:00"),
        ("cz3d1x0gbv", marked("by-serial"), "its serial number is CZ3D1X0GBV"),
        ("worker-0", marked("by-name"), "its host name is worker-0.example.org"),
        ("worker-0.example.org", marked("by-fqdn"), "its host name is worker-0.example.org"),
        ("cluster", marked("for-all"), "no host file matches"),
    ];
    for count in (1..=documents.len()).rev() {
        let from = documents.len() - count;
        let mut machine = machine().host("worker-1", &with_mac("not-ours", SECOND));
        for (name, document, _) in &documents[from..] {
            machine = machine.host(name, document);
        }
        if from == 0 {
            machine = machine.command_line("nmgen.host=named nmgen.timeout=0");
        }
        let (name, document, reason) = &documents[from];
        let said = machine.boot().exits(0);
        let name = if *name == "cluster" { "one of the cluster" } else { name };
        let expected = format!("nmgen: this machine is {name} ({reason}): ");
        assert!(said.console.starts_with(&expected), "{said:?}");
        assert!(document.contains(&format!(" {},", chosen(&machine).unwrap())), "{said:?}");
    }
}

#[tests::case]
fn a_file_may_be_named_after_an_address_or_a_uuid() {
    for name in ["52-54-00-00-00-01", UUID, &UUID.to_uppercase()] {
        let machine = machine().host(name, &marked("ours")).host("cluster", &marked("all"));
        machine.boot().exits(0);
        assert_eq!(chosen(&machine).as_deref(), Some("ours"), "{name}");
    }
    let machine =
        Machine::new().card("ens3", "52:54:00:aa:bb:cc").host("52-54-00-AA-bb-CC", &marked("ours"));
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("ours"));
}

#[tests::case]
fn two_that_match_equally_well_are_an_error_with_both_names() {
    let line = "nmgen.timeout=0\n";
    let cases = [
        (
            [("a", with_mac("a0", SECOND)), ("b", with_mac("b0", FIRST))],
            "/etc/nmgen/a.yml (ens4 has the MAC address 52:54:00:00:00:02) and \
             /etc/nmgen/b.yml (ens3 has the MAC address 52:54:00:00:00:01)",
        ),
        (
            [("52-54-00-00", marked("a0")), ("52-54-00-0A", marked("b0"))],
            "/etc/nmgen/52-54-00-00.yml (the MAC address of ens3 begins with 52:54:00:00) and \
             /etc/nmgen/52-54-00-0A.yml (the MAC address of ens5 begins with 52:54:00:0A)",
        ),
        (
            [(UUID, marked("a0")), ("CZ3D1X0GBV", marked("b0"))],
            "/etc/nmgen/CZ3D1X0GBV.yml (its serial number is CZ3D1X0GBV) and \
             /etc/nmgen/4c4c4544-0042-3510-8054-b7c04f4b3332.yml (its system UUID is \
             4c4c4544-0042-3510-8054-b7c04f4b3332)",
        ),
    ];
    for ([(first, one), (second, other)], both) in cases {
        let machine = machine()
            .card("ens4", SECOND)
            .card("ens5", "52:54:00:0a:00:01")
            .command_line(line)
            .host(first, &one)
            .host(second, &other)
            .host("cluster", &marked("all"));
        let expected =
            format!("two documents match this machine: {both}; choose one with nmgen.host=");
        assert_eq!(machine.boot(), failed(2, &expected));
        assert!(machine.is_untouched());
        machine.write("proc/cmdline", &format!("nmgen.host={second} {line}"));
        machine.boot().exits(0);
    }
}

/// A host with a boot MAC address beside its document, without links.
#[tests::case]
fn two_files_with_the_same_text_are_one_host() {
    let document = format!("{}- {{name: eth1, type: ethernet}}\n", with_mac("ours", SECOND));
    let machine = machine()
        .card("ens4", SECOND)
        .host("52-54-00-00-00-01", &document)
        .host("worker-0", &document);
    let said = machine.boot().exits(0);
    // One document is named after a card and has no address for it.
    assert!(said.console.contains("; eth0 is ens4; eth1 is ens3\n"), "{said:?}");
}

/// A document with more addresses than the index keeps is searched again.
#[tests::case]
fn a_document_may_have_any_number_of_addresses() {
    let many = |host: u32| -> String {
        (0..200).map(|card| format!("# 02:00:00:{host:02x}:{card:02x}:01\n")).collect()
    };
    let mut machine = machine().host("ours", &format!("{}{}", many(0), with_mac("mine", FIRST)));
    for host in 1..9 {
        machine = machine.host(&format!("other-{host}"), &format!("{}{}", many(host), marked("a")));
    }
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("mine"));
}

#[tests::case]
fn an_address_counts_where_an_interface_has_it() {
    let elsewhere = format!(
        "# {FIRST}\ndescription: {FIRST}\n{}- {{name: gone, type: ethernet, state: absent, \
         mac-address: {FIRST}}}\n",
        marked("theirs")
    );
    let machine = machine()
        .host("theirs", &elsewhere)
        .host("ours", &with_mac("mine", "'52-54-0-0-0-1'"))
        .host("cluster", &with_mac("all", FIRST));
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("mine"));
}

/// The address of a function and one beside a PCI address are to be set: another machine's card may have them.
#[tests::case]
fn an_address_that_is_to_be_set_chooses_no_document() {
    let function = format!(
        "interfaces:\n- {{name: eno1, type: ethernet, ethernet: {{sr-iov: {{total-vfs: 1}}}}}}\n\
         - {{name: eno1v0, type: ethernet, mac-address: {FIRST}}}\n"
    );
    let place = format!(
        "interfaces:\n- {{name: eno1, type: ethernet, identifier: pci-address, pci-address: '0000:18:00.0', mac-address: {FIRST}}}\n"
    );
    for theirs in [function, place] {
        let machine = machine().host("theirs", &theirs);
        machine.boot().exits(0);
        assert_eq!(chosen(&machine), None, "{theirs}");
        let machine = machine.host("ours", &with_mac("mine", FIRST));
        machine.boot().exits(0);
        assert_eq!(chosen(&machine).as_deref(), Some("mine"), "{theirs}");
    }
}

#[tests::case]
fn a_bond_hides_no_address() {
    let machine = machine()
        .file("sys/class/net/ens3/address", "52:54:00:00:00:99\n")
        .file("sys/class/net/ens3/bonding_slave/perm_hwaddr", &format!("{FIRST}\n"))
        // Virtual interfaces have addresses too.
        .file("sys/class/net/bond0/address", &format!("{SECOND}\n"))
        .host("ours", &with_mac("mine", FIRST))
        .host("theirs", &with_mac("not-mine", SECOND));
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("mine"));
}

#[tests::case]
fn a_machine_without_a_name_has_none() {
    for name in ["localhost", "localhost.localdomain", "(none)", ""] {
        let machine = Machine::with_card()
            .file("proc/sys/kernel/hostname", &format!("{name}\n"))
            .host("localhost", &marked("wrong"))
            .host("(none)", &marked("wrong"))
            .host("cluster", &marked("all"));
        machine.boot().exits(0);
        assert_eq!(chosen(&machine).as_deref(), Some("all"), "{name}");
    }
    // ip=192.0.2.9::192.0.2.1:24:worker-3:ens3:none
    let machine = Machine::with_card()
        .file("run/NetworkManager/initrd/hostname", "worker-3")
        .file("proc/sys/kernel/hostname", "localhost\n")
        .host("worker-3", &marked("named"))
        .host("cluster", &marked("all"));
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("named"));
}

#[tests::case]
fn an_empty_document_counts_as_if_it_were_not_there() {
    let machine = machine().host("worker-0", " \n").host("cluster", &marked("all"));
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("all"));
}

#[tests::case]
fn without_a_document_nothing_is_done() {
    let machine = machine().host("worker-1", &with_mac("theirs", SECOND));
    let expected = said(
        0,
        6,
        "no document in /etc/nmgen matches this machine: nothing to do \
         (its MAC addresses: 52:54:00:00:00:01)",
    );
    assert_eq!(machine.boot(), expected);
    assert!(machine.is_untouched());
    machine.write("etc/nmgen/worker-0.yaml", &marked("ignored"));
    let ignored = "; worker-0.yaml is ignored: only files that end in .yml are read\n";
    assert!(machine.boot().console.ends_with(ignored));
    assert!(machine.is_untouched());
}

#[tests::case]
fn the_first_directory_with_documents_is_the_one() {
    let machine = machine().command_line("nmgen.dir=/srv/hosts nmgen.timeout=0");
    let missing = failed(
        1,
        "cannot list the hosts directory /srv/hosts: No such file or directory (os error 2)",
    );
    assert_eq!(machine.boot(), missing);
    machine.write("proc/cmdline", "quiet\n");
    let nothing = said(0, 6, "no hosts directory: nothing to do");
    assert_eq!(machine.boot(), nothing);
    machine.write("proc/cmdline", "nmgen.dir=/srv/hosts nmgen.timeout=0");
    for (directory, name) in
        [("srv/hosts", "from-dir"), ("run/nmgen", "from-run"), ("etc/nmgen", "from-etc")]
    {
        // A directory without documents is skipped.
        machine.write("etc/nmgen/README", "");
        machine.write(&format!("{directory}/cluster.yml"), &marked(name));
        machine.boot().exits(0);
        assert_eq!(chosen(&machine).as_deref(), Some(name));
    }
}

#[tests::case]
fn a_directory_that_cannot_be_read_is_said() {
    let machine = machine().file("etc/nmgen", "not a directory").file("run/nmgen/cluster.yml", "");
    let expected =
        failed(1, "cannot list the hosts directory /etc/nmgen: Not a directory (os error 20)");
    assert_eq!(machine.boot(), expected);
    assert!(machine.is_untouched());

    let machine = Machine::with_card().host("cluster", &marked("all"));
    let set = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(machine.path("etc/nmgen"), permissions).unwrap();
    };
    set(0o000);
    let said = machine.boot();
    // Root may read everything.
    let is_root = std::fs::read_dir(machine.path("etc/nmgen")).is_ok();
    set(0o755);
    assert_eq!(said.code, Some(if is_root { 0 } else { 1 }), "{said:?}");
}

#[tests::case]
fn a_host_that_is_not_there_is_said() {
    let machine = machine().command_line("nmgen.host=worker-9").host("cluster", &marked("all"));
    let expected = failed(2, "nmgen.host=worker-9: no such document in /etc/nmgen");
    assert_eq!(machine.boot(), expected);
    assert!(machine.is_untouched());
}

#[tests::case]
fn a_host_without_a_directory_is_said_too() {
    let machine = machine().command_line("nmgen.host=worker-9");
    assert_eq!(machine.boot(), failed(2, "nmgen.host=worker-9: no hosts directory"));
    assert!(machine.is_untouched());
}

#[tests::case]
fn a_command_line_that_is_not_text_counts_as_far_as_it_is() {
    let machine = machine().host("worker-9", &marked("named")).host("cluster", &marked("all"));
    std::fs::write(machine.path("proc/cmdline"), b"x=\xff nmgen.host=worker-9\n").unwrap();
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("named"));
    std::fs::remove_file(machine.path("proc/cmdline")).unwrap();
    let said = machine.boot().exits(0);
    let expected = "<4>nmgen: cannot read /proc/cmdline: No such file or directory (os error 2)\n";
    assert!(said.kernel.starts_with(expected), "{said:?}");
}

/// Each argument that cannot be read may be one that matters; the others count.
#[tests::case]
fn a_part_of_the_command_line_that_cannot_be_read_is_said() {
    let machine = machine()
        .file("etc/cmdline.d", "not a directory")
        .file("etc/cmdline/file", "")
        .host("worker-9", &marked("named"))
        .command_line("nmgen.host=worker-9 nmgen.timeout=0\n");
    let said = machine.boot();
    assert_eq!((said.code, chosen(&machine).as_deref()), (Some(0), Some("named")), "{said:?}");
    let expected = "<4>nmgen: cannot list /etc/cmdline.d: Not a directory (os error 20)\n\
                    <4>nmgen: cannot read /etc/cmdline: not a regular file\n";
    assert!(said.kernel.starts_with(expected), "{said:?}");
}

/// Files that could block a boot, lead out of the directory or exhaust memory.
#[tests::case]
fn what_is_no_document_is_passed_over() {
    let machine =
        machine().host("worker-0", &with_mac("ours", FIRST)).file("etc/nmgen/a.yml/b", "");
    let fifo = machine.path("etc/nmgen/fifo.yml");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for (name, to) in [
        ("to-fifo", "fifo.yml"),
        ("loop", "loop.yml"),
        ("nowhere", "nothing.yml"),
        ("directory", "."),
        ("null", "/dev/null"),
    ] {
        let link = machine.path(&format!("etc/nmgen/{name}.yml"));
        std::os::unix::fs::symlink(to, link).unwrap();
    }
    let said = machine.boot();
    assert_eq!((said.code, chosen(&machine).as_deref()), (Some(0), Some("ours")), "{said:?}");
    // A link to a document in another directory counts, as in a mounted ConfigMap.
    let machine = self::machine().file("etc/nmgen/..data/worker-0.yml", &with_mac("ours", FIRST));
    let link = machine.path("etc/nmgen/worker-0.yml");
    std::os::unix::fs::symlink("..data/worker-0.yml", link).unwrap();
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("ours"));
}

#[tests::case]
fn a_directory_with_too_many_documents_is_refused() {
    let machine = machine().host("cluster", &marked("all"));
    for index in 0..19_999 {
        std::fs::write(machine.path(&format!("etc/nmgen/{index}.yml")), "").unwrap();
    }
    machine.boot().exits(0);
    assert_eq!(chosen(&machine).as_deref(), Some("all"));
    let machine = machine.host("one-more", "");
    let expected = failed(2, "there are more than 20000 documents in /etc/nmgen");
    assert_eq!(machine.boot(), expected);
}

#[tests::case]
fn without_a_kernel_log_the_console_has_it() {
    let machine = machine().host("cluster", &marked("all"));
    std::fs::remove_file(machine.path("dev/kmsg")).unwrap();
    let mut command = machine.command();
    let output = command.output().unwrap().exits(0);
    assert!(output.err().starts_with("nmgen: this machine is one of the cluster ("));
    assert_eq!(chosen(&machine).as_deref(), Some("all"));
}

/// systemd hands a line on to the console and gives it its level: in the kernel log it would be a second one.
#[tests::case]
fn what_the_journal_has_is_in_no_other_log() {
    let machine = machine().host("cluster", &marked("all"));
    let path = machine.path("journal");
    let journal = std::fs::File::create(&path).unwrap();
    let found = journal.metadata().unwrap();
    let stream = format!("{}:{}", found.dev(), found.ino());
    let mut command = machine.command();
    assert!(command.env("JOURNAL_STREAM", stream).stderr(journal).status().unwrap().success());
    let told = machine.read("journal");
    assert!(told.starts_with("<6>this machine is one of the cluster ("), "{told}");
    assert_eq!(machine.read("dev/kmsg"), "");
    // The variable alone, which a shell may have from its parent, is no journal.
    let said = machine.run(machine.command().env("JOURNAL_STREAM", "1:1"));
    assert!(
        said.kernel.starts_with("<6>nmgen: this machine is ")
            && said.console.starts_with("nmgen: "),
        "{said:?}"
    );
}

/// The kernel refuses a record of more than 1,024 bytes.
#[tests::case]
fn a_line_fits_into_a_record_of_the_kernel() {
    let long = "\u{e9}".repeat(600);
    let machine = machine().command_line(&format!("nmgen.host={long}\n")).host("a", &marked("a"));
    let said = machine.boot().exits(2);
    assert!(said.kernel.len() <= 1_024 - 32, "{}", said.kernel.len());
    assert!(said.kernel.ends_with("\u{e9}…\n"), "{said:?}");
}

/// As Windows' editor saves it.
#[tests::case]
fn a_warning_about_the_file_is_told_too() {
    let machine = machine().host("worker-0", &format!("\u{feff}{}", marked("ours")));
    let said = machine.boot();
    assert_eq!((said.code, chosen(&machine).as_deref()), (Some(0), Some("ours")), "{said:?}");
    let warning = "<4>nmgen: /etc/nmgen/worker-0.yml: the file begins with a byte-order mark [byte-order-mark]\n";
    assert!(said.kernel.starts_with(warning), "{said:?}");
}

#[tests::case]
fn a_broken_document_is_one_line() {
    for (document, line) in [
        (
            "interfaces:\n- name: eth0\n  type: vlan\n  mac-address: 52:54:00:00:00:01\n  vlan: {base-iface: eth1, id: 5000}\n",
            "/etc/nmgen/worker-0.yml:5:32: VLAN id 5000 is not in 1..=4094 [vlan-id-range]",
        ),
        (
            "interfaces:\n- name: eth0\n  mac-address: 52:54:00:00:00:01\n  mac-address: 52:54:00:00:00:01\n",
            "/etc/nmgen/worker-0.yml:4:3: \"mac-address\" is repeated; first on line 3 [duplicate-key]",
        ),
        (
            "interfaces:\n- {name: eth0, mac-address: 52:54:00:00:00:01}\n- {name: \"a\\nb\\e[31m\", type: dummy, foo: 1}\n",
            "/etc/nmgen/worker-0.yml:3:10: \"a\\\\nb\\\\u{1b}[31m\" cannot name an interface: white space and control characters are not allowed [interface-name-characters]",
        ),
    ] {
        let machine = machine().host("worker-0", document).host("cluster", &marked("all"));
        assert_eq!(machine.boot(), failed(2, &line.replace("\\\\", "\\")));
        assert!(machine.is_untouched());
    }
    let several = "interfaces:\n- {name: ens3, mac-address: 52:54:00:00:00:01}\n\
                   - {name: a/b, type: dummy}\n- {name: c/d, type: dummy}\n";
    let many = machine().host("worker-0", several);
    let expected = "/etc/nmgen/worker-0.yml:3:10: \"a/b\" cannot name an interface: '/' and ':' are \
                    not allowed [interface-name-characters] (and 1 more, see `nmgen check`)";
    assert_eq!(many.boot(), failed(2, expected));
    // A file that is not text, with this machine's name.
    let machine = machine();
    machine.write("etc/nmgen/worker-0.yml", "");
    std::fs::write(machine.path("etc/nmgen/worker-0.yml"), [0xff, 0xfe, 0]).unwrap();
    let expected = "/etc/nmgen/worker-0.yml: the file is UTF-16, not UTF-8 [encoding]";
    assert_eq!(machine.boot(), failed(2, expected));
}

/// For a signed image to which nothing can be appended.
#[tests::case]
fn credentials_are_a_hosts_directory() {
    for directory in ["run/credentials/nmgen.service", "run/credentials/@system"] {
        let machine = Machine::with_card()
            .file(&format!("{directory}/nmgen.worker-0.yml"), &with_mac("a", "52:54:00:00:00:01"))
            .file(&format!("{directory}/nmgen.cluster.yml"), &marked("b"))
            .file(&format!("{directory}/passwd.yml"), "not one of nmgen's");
        let said = machine.boot().exits(0);
        let told = format!("2 profiles from /{directory}/nmgen.worker-0.yml; eth0 is ens3\n");
        assert!(said.console.contains(&told), "{said:?}");
    }
}

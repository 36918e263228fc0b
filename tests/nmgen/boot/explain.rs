//! `nmgen boot --explain`: the account for an emergency shell.

use tests::crash::tree::Tree;
use tests::machine::{EARLY, Machine};
use tests::program::Exits as _;

use super::{marked, with_mac};

const MAC: &str = "52:54:00:00:00:01";

/// Standard output; nothing changes.
fn explained(machine: &Machine) -> String {
    let whole = || Tree::read(&machine.path(""), &["/"]).unwrap();
    let before = whole();
    let mut command = machine.command();
    let output = command.arg("--explain").output().unwrap().exits(0);
    assert_eq!(output.stderr, b"", "{output:?}");
    assert_eq!(before.difference(&whole()), None);
    let root = format!("{}/", machine.path("").display().to_string().trim_end_matches('/'));
    String::from_utf8(output.stdout).unwrap().replace(&root, "/")
}

#[tests::case]
fn it_says_what_was_chosen_and_whose_the_profiles_are() {
    let person = "[connection]\nid=office\ntype=ethernet\ninterface-name=ens5\n";
    let machine = Machine::with_card()
        .card("ens4", "52:54:00:00:00:02")
        .card("ens5", "52:54:00:00:00:03")
        .card("ens6", "52:54:00:00:00:04")
        .file("proc/sys/kernel/hostname", "named\n")
        .host(
            "mine",
            &format!(
                "{}  ipv4: {{enabled: true, dhcp: true}}\n",
                with_mac("a", MAC).replace(
                    "- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}",
                    "- name: eth0\n  type: ethernet\n  mac-address: 52:54:00:00:00:01"
                )
            ),
        )
        .host("named", &marked("b"))
        .host("cluster", &marked("c"))
        .host("other", &with_mac("d", "52:54:00:00:00:77"))
        .host("once", &format!("{}# {MAC}\n", with_mac("e", "52:54:00:00:00:78")))
        .file("etc/nmgen/mine.yaml", "")
        .file(&format!("{EARLY}/office.nmconnection"), person);
    machine.boot().exits(0);
    let expected = format!(
        "the initramfs brings a network up

/etc/nmgen has 5 documents
  chosen: mine.yml: ens3 has the MAC address {MAC}
    eth0 is ens3
  not chosen: named.yml, though its host name is named
  not chosen: cluster.yml, though no host file matches
  not chosen: once.yml mentions {MAC}, but no interface that is up has its address
  not chosen: other.yml: nothing of it is this machine's
  not read: mine.yaml: only files that end in .yml are

/run/NetworkManager/system-connections
  a.nmconnection: the document's
  ens3.nmconnection: the document's
  office.nmconnection: a person's
  default_connection.nmconnection gave way to the document's
  for the running system: a.nmconnection, ens3.nmconnection

the running system

cards
  ens3 ({MAC}): ens3.nmconnection
  ens4 (52:54:00:00:00:02): no profile
  ens5 (52:54:00:00:00:03): office.nmconnection
  ens6 (52:54:00:00:00:04): no profile
"
    );
    assert_eq!(explained(&machine), expected);
}

#[tests::case]
fn it_says_why_nothing_was_chosen() {
    let machine = Machine::with_card();
    assert!(explained(&machine).contains("\nno hosts directory has a document\n"));
    let machine = machine.host("w0", &with_mac("a", MAC)).host("w1", &with_mac("b", MAC));
    let said = explained(&machine);
    assert!(said.contains(&format!("  {MAC} (ens3) identifies no machine: ")), "{said}");
    assert!(said.contains("  chosen: none\n"), "{said}");
    assert!(
        said.contains("  default_connection.nmconnection: the kernel command line's\n"),
        "{said}"
    );
    let machine = Machine::with_card().host("w0", &format!("mac-address: {MAC}\n\t- ["));
    let said = explained(&machine);
    assert!(said.contains("    it cannot be used: "), "{said}");
}

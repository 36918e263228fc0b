//! A document with Open vSwitch is for the running system: the initramfs has no database and no plugin for it.

use tests::machine::{EARLY, Machine, STAGED};
use tests::program::{self, Exits as _};

const BR_EX: &str = "\
interfaces:
- {name: eth0, type: ethernet, mac-address: 52:54:00:00:00:01}
- name: br-ex
  type: ovs-bridge
  bridge: {port: [{name: eth0}, {name: br-ex}]}
- {name: br-ex, type: ovs-interface, ipv4: {enabled: true, dhcp: true}}
";

#[tests::case]
fn a_br_ex_document_is_an_error_and_the_initramfs_keeps_its_network() {
    let machine = Machine::with_card().host("worker-0", BR_EX);
    let said = machine.boot().exits(2);
    assert_eq!(
        said.kernel,
        "<3>nmgen: /etc/nmgen/worker-0.yml: br-ex is Open vSwitch's, which no initramfs has; the document is for the \
         running system; the boot goes on with the initramfs's own network\n"
    );
    assert!(machine.is_untouched());
    assert_eq!(machine.persist().console, "");
    // An interface that is removed or left alone needs no Open vSwitch.
    for state in ["absent", "ignore"] {
        let document =
            BR_EX.replace("type: ovs-bridge\n", &format!("type: ovs-bridge\n  state: {state}\n"));
        let document = document
            .replace("type: ovs-interface,", &format!("type: ovs-interface, state: {state},"));
        Machine::with_card().host("worker-0", &document).boot().exits(0);
    }
}

/// 802.1X and MACsec without wpa_supplicant: the card would get no link, and the initramfs's own network is better than that.
#[tests::case]
fn what_needs_a_supplicant_is_refused_without_one() {
    let card = "interfaces:\n- name: eth0\n  type: ethernet\n  mac-address: 52:54:00:00:00:01\n  ipv4: {enabled: true, dhcp: true}\n";
    let key = "50b71a8ef0bd5751ea76de6d6c98c03a";
    let documents = [
        format!("{card}  802.1x: {{identity: worker-0, eap-methods: [ttls], password: secret}}\n"),
        format!(
            "{card}- {{name: macsec0, type: macsec, macsec: {{encrypt: true, base-iface: eth0, mka-cak: {key}, mka-ckn: '{}', \
             port: 0, validation: strict, send-sci: true}}}}\n",
            format!("{key}{key}").replace('5', "f")
        ),
    ];
    for document in documents {
        let machine = Machine::with_card().host("worker-0", &document);
        machine.boot().exits(2).says("needs wpa_supplicant for 802.1X or MACsec");
        assert!(machine.is_untouched());
        let with_it = machine.file("usr/sbin/wpa_supplicant", "");
        with_it.boot().exits(0);
        assert!(with_it.profiles(EARLY).contains(&"ens3".to_owned()));
        // The running system has one of its own.
        let machine = Machine::with_card()
            .host("worker-0", &document)
            .command_line("nmgen.timeout=0 ignition.firstboot\n");
        machine.boot().exits(0);
        assert!(machine.profiles(STAGED).contains(&"ens3".to_owned()));
        let call = ["generate", "--to", "initrd", "etc/nmgen"];
        program::nmgen_in(machine.path(""), &call).exits(0).reports("warning[needs-supplicant]: ");
    }
}

#[tests::case]
fn an_archive_of_it_is_refused_when_it_is_made() {
    let machine = Machine::with_card().host("worker-0", BR_EX);
    let run = |to: &[&str]| {
        let call = [&["generate", "--to"], to, &["etc/nmgen"]].concat();
        program::nmgen_in(machine.path(""), &call)
    };
    run(&["initrd"]).exits(2).reports("error[not-in-initramfs]: ").reports("worker-0.yml:4:9");
    run(&["machine-config", "--role", "worker"]).exits(0);
}

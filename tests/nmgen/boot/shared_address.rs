//! An address of many machines, as a BMC's network interface has it: it identifies none of them.

use tests::machine::{EARLY, Machine};
use tests::program::{self, Exits as _};

use super::{marked, with_mac};

const OWN: [&str; 3] = ["52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03"];
/// An address that every machine of the fleet has.
const BMC: &str = "0a:bc:de:f0:12:34";

/// A host's document with its own address and the BMC's.
fn fleet(name: &str, own: &str, state: &str) -> String {
    format!(
        "{}- {{name: usb0, type: ethernet, state: {state}, mac-address: '{BMC}'}}\n",
        with_mac(name, own)
    )
}

fn machine(state: &str) -> Machine {
    let hosts = OWN
        .iter()
        .enumerate()
        .map(|(n, own)| (format!("worker-{n}"), fleet(&format!("host{n}"), own, state)));
    hosts.fold(Machine::new().card("usb0", BMC).on_bus("usb0", "usb"), |machine, (name, text)| {
        machine.host(&name, &text)
    })
}

#[tests::case]
fn every_machine_of_the_fleet_finds_its_own_document() {
    for state in ["down", "ignore", "up"] {
        for (number, own) in OWN.iter().enumerate() {
            // The order of the cards is no matter.
            for name in ["ens3", "zz3"] {
                let machine = machine(state).card(name, own);
                let said = machine.boot().exits(0);
                assert!(machine.profiles(EARLY).contains(&format!("host{number}")), "{said:?}");
                let warning = format!(
                    "<4>nmgen: {BMC} (usb0) identifies no machine: /etc/nmgen/worker-0.yml and \
                     /etc/nmgen/worker-1.yml have this MAC address\n"
                );
                assert_eq!(said.kernel.contains(&warning), state == "up", "{said:?}");
            }
        }
    }
}

#[tests::case]
fn a_machine_that_has_no_other_address_takes_the_fallback() {
    for state in ["down", "up"] {
        let machine = machine(state).host("cluster", &marked("all"));
        let said = machine.boot().exits(0);
        assert_eq!(machine.early(), ["all"], "{said:?}");
        assert_eq!(said.kernel.matches("<4>").count(), usize::from(state == "up"), "{said:?}");
    }
}

/// A file named after the address counts like a document that contains it.
#[tests::case]
fn a_file_name_and_a_document_share_an_address_too() {
    let machine = Machine::new()
        .card("ens3", OWN[0])
        .host("52-54-00-00-00-01", &marked("a0"))
        .host("b", &with_mac("b0", OWN[0]));
    let said = machine.boot().exits(0);
    let expected = "<4>nmgen: 52:54:00:00:00:01 (ens3) identifies no machine: \
                    /etc/nmgen/52-54-00-00-00-01.yml and /etc/nmgen/b.yml have this MAC address\n";
    assert!(said.kernel.starts_with(expected), "{said:?}");
    assert!(machine.is_untouched());
}

#[tests::case]
fn check_says_it_beforehand() {
    for (state, code) in [("up", 2), ("down", 0), ("ignore", 0)] {
        let machine = machine(state);
        let output = program::nmgen_in(machine.path(""), &["check", "etc/nmgen"]).exits(code);
        let said = output.err();
        assert_eq!(said.contains("[mac-on-two-hosts]"), code == 2, "{said}");
    }
}

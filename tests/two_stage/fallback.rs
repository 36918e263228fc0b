//! Without a usable document the boot goes on by DHCP, and one line gives the reason.

use tests::{
    lab::{Nic, VirtualMachine},
    two_stage::{
        Ignition, MACS, NAME,
        fallback::{document, falls_back},
    },
};

use crate::Result;

fn machine() -> VirtualMachine {
    // Without the agent: only the first stage matters here.
    let config = Ignition::bare(NAME).text();
    VirtualMachine::new().nic(Nic::new("nic1", MACS[0])).ignition("192.0.2.1", &config)
}

/// An address of two documents identifies neither's machine, and no other document is for it.
#[tests::case]
fn no_matching_host() -> Result<()> {
    let machine = machine()
        .early("/etc/nmgen/worker-1.yml", &document())
        .early("/etc/nmgen/worker-2.yml", &document().replace(".70", ".71"));
    let expected =
        ["worker-1.yml and /etc/nmgen/worker-2.yml have", "no document in /etc/nmgen matches"];
    // One of them to its end: the running system.
    falls_back(&machine, &expected, |case| Ok(case.wait_running()?))
}

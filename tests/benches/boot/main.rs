//! The two-stage boot. First nodes side by side that differ by what makes br-ex: nmgen with the agent, nmstate-configuration,
//! configure-ovs; then what a card without a lease costs.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

mod kinds;
mod silent;

use tests::{
    lab::{Error, Machines, kvm},
    skip,
};

fn main() -> Result<(), Error> {
    if skip::is_lab_off() {
        return Ok(());
    }
    let machines = Machines::of_nodes()?;
    match kvm() {
        Ok(()) => println!("clock: the host's, on its own processor (KVM)"),
        Err(reason) => println!(
            "clock: a core of 500 million instructions a second, some ten times slower than a server's (QEMU's -icount): {reason}"
        ),
    }
    kinds::compare(&machines)?;
    silent::compare(&machines)
}

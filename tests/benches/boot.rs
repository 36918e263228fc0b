//! The two-stage boot: without a card that gets no lease, with it, and with NetworkManager-wait-online in the chain.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use tests::{
    lab::{Error, Machines},
    skip,
    two_stage::SilentCard,
};

fn main() -> Result<(), Error> {
    if skip::is_allowed() {
        return Ok(());
    }
    let machines = Machines::open()?;
    println!(
        "seconds from NetworkManager's start in the initramfs to the commit of br-ex, on a machine of one core and 500 million instructions a second"
    );
    let without = SilentCard::Absent.boot(&machines)?;
    println!("  without the card              {without:6.1}");
    for (card, what) in [
        (SilentCard::Present, "with it                       "),
        (SilentCard::WaitedFor, "NetworkManager-wait-online too"),
    ] {
        let seconds = card.boot(&machines)?;
        println!("  {what}{seconds:6.1}  x{:.2}", seconds / without);
    }
    Ok(())
}

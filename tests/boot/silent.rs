//! A second card with DHCP but without a server delays nothing.

use std::thread;

use tests::{
    lab::{Machines, Result},
    two_stage::{SilentCard, tell},
};

/// Bound on the cost of a further card, in seconds.
const MORE: f64 = 2.0;

fn boot(card: SilentCard) -> Result<f64> {
    card.boot(&Machines::open()?)
}

/// The card's cost, from two boots at once: the machines count time by their own instructions, independent of each other.
fn cost() -> Result<f64> {
    let (without, with) = thread::scope(|scope| {
        let without = scope.spawn(|| boot(SilentCard::Absent));
        let with = boot(SilentCard::Present);
        (without.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), with)
    });
    let (without, with) = (without?, with?);
    tell(&format!("to br-ex {without:.1} s; beside a card without a lease {with:.1} s"));
    Ok(with - without)
}

#[tests::case]
fn nobody_waits_for_its_lease() -> Result<()> {
    let first = cost()?;
    if first > MORE {
        // A wait for the peer counts the host's time: measure once more before failing.
        let second = cost()?;
        assert!(second <= MORE, "{first}, then {second}");
    }
    Ok(())
}

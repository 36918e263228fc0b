//! A second card with DHCP and no server for it: nobody waits.

use std::thread;

use tests::{
    lab::{Machines, Result},
    two_stage::{SilentCard, tell},
};

/// What a further card may cost, in seconds.
const MORE: f64 = 2.0;

fn boot(card: SilentCard) -> Result<Option<f64>> {
    Machines::open()?.map(|machines| card.boot(&machines)).transpose()
}

/// What the card costs, by two boots at once: the machines count their time by their own instructions, so that neither sees
/// the other.
fn cost() -> Result<Option<f64>> {
    let (without, with) = thread::scope(|scope| {
        let without = scope.spawn(|| boot(SilentCard::Absent));
        let with = boot(SilentCard::Present);
        (without.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), with)
    });
    let (Some(without), Some(with)) = (without?, with?) else { return Ok(None) };
    tell(&format!("to br-ex {without:.1} s; beside a card without a lease {with:.1} s"));
    Ok(Some(with - without))
}

#[test]
fn nobody_waits_for_its_lease() -> Result<()> {
    let Some(first) = cost()? else { return Ok(()) };
    if first > MORE {
        // Where a machine waits for its peer it is the host's time that counts: once more, before it is called slow.
        let second = cost()?;
        assert!(second.is_some_and(|second| second <= MORE), "{first}, then {second:?}");
    }
    Ok(())
}

//! A second card with DHCP and no server for it: nobody waits.

use std::thread;

use tests::{
    lab::{Machines, Result},
    two_stage::{SilentCard, tell},
};

/// What a further card may cost, in seconds.
const MORE: f64 = 2.0;

/// Two boots at once: the machines count their time by their own instructions, so that neither sees the other.
#[test]
fn nobody_waits_for_its_lease() -> Result<()> {
    let boot = |card: SilentCard| match Machines::open()? {
        Some(machines) => card.boot(&machines).map(Some),
        None => Ok(None),
    };
    let (without, with) = thread::scope(|scope| {
        let without = scope.spawn(|| boot(SilentCard::Absent));
        let with = boot(SilentCard::Present);
        (without.join(), with)
    });
    let without = without.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    let (Some(without), Some(with)) = (without, with?) else { return Ok(()) };
    tell(&format!("to br-ex {without:.1} s; beside a card without a lease {with:.1} s"));
    assert!(with - without <= MORE, "{with} {without}");
    Ok(())
}

//! A second card with DHCP and no server for it: nobody waits.

use std::thread;

use tests::{
    lab::{Error, Machines},
    two_stage::{SilentCard, tell},
};

use crate::Result;

/// Both at once where there is room for two machines, so that what else the host does is the same for both.
#[test]
fn nobody_waits_for_its_lease() -> Result<()> {
    let measure = |card: SilentCard| -> std::result::Result<Option<f64>, Error> {
        let Some(machines) = Machines::open()? else { return Ok(None) };
        let seconds = card.seconds_to_commit(&machines)?;
        tell(&format!("{card:?}: {seconds:.1} s to the commit"));
        Ok(Some(seconds))
    };
    let (without, with) = thread::scope(|scope| {
        let without = scope.spawn(|| measure(SilentCard::Absent));
        let with = measure(SilentCard::Present);
        (without.join(), with)
    });
    let without = without.map_err(|_| "the boot without the card panicked")??;
    let (Some(without), Some(with)) = (without, with?) else { return Ok(()) };
    // The shortest wait for a lease is 45 s. What the card itself costs is in what was told.
    assert!(with < without * 1.25, "{with:.1} s with it, {without:.1} s without");
    Ok(())
}

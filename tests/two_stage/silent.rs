//! A second card with DHCP and no server for it: nobody waits.

use tests::{
    lab::Machines,
    two_stage::{SilentCard, tell},
};

use crate::Result;

/// br-ex is committed while the card still waits for its lease. How long that takes beside a boot without the card is the
/// benchmark's business.
#[test]
fn nobody_waits_for_its_lease() -> Result<()> {
    let Some(machines) = Machines::open()? else { return Ok(()) };
    let boot = SilentCard::Present.boot(&machines)?;
    tell(&format!("a card without a lease: {:.1} s to the commit", boot.seconds));
    assert_eq!(boot.given_up, None, "{boot:?}");
    Ok(())
}

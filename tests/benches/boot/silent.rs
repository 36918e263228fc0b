//! A card without a lease, and NetworkManager-wait-online in the chain. Always by the machine's own instructions: ratios of the
//! same work.

use tests::{
    lab::{Error, Machines},
    two_stage::SilentCard,
};

pub(crate) fn compare(machines: &Machines) -> Result<(), Error> {
    println!(
        "\nseconds from NetworkManager's start in the initramfs to the commit of br-ex, on a core of 500 million instructions a second"
    );
    let without = SilentCard::Absent.boot(machines)?;
    println!("  without the card              {without:6.1}");
    for (card, what) in [
        (SilentCard::Present, "with it                       "),
        (SilentCard::WaitedFor, "NetworkManager-wait-online too"),
    ] {
        let seconds = card.boot(machines)?;
        println!("  {what}{seconds:6.1}  x{:.2}", seconds / without);
    }
    Ok(())
}

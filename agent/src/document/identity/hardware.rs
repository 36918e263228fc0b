//! Identity from the hardware: permanent MAC addresses and DMI.

use nmgen::{
    Mac,
    node::{Card, Dmi},
};

use crate::{
    client::netlink::{Netlink, NetlinkError},
    model::{Link, facts::SourceAnswer},
    paths::Paths,
};

/// Physical NICs in the order of their names, each with its permanent address if the kernel knows
/// one, else the address in use. A foreign root has its own `/sys`.
///
/// # Errors
/// The kernel's list of links cannot be read: a node with unknown cards is none without cards, whose files would count for nothing.
pub(crate) async fn cards(paths: &Paths) -> Result<Vec<Card>, NetlinkError> {
    let mut cards = match paths.collected().map(|facts| &facts.links) {
        Some(SourceAnswer::Value(links)) => physical(links),
        None if paths.is_system() => physical(&Netlink::connect()?.links().await?),
        Some(SourceAnswer::Error(_)) | None => in_tree(paths),
    };
    cards.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(cards)
}

fn physical(links: &[Link]) -> Vec<Card> {
    let card =
        |link: &Link| Some(Card { name: link.name.clone(), mac: link.macs().next()?.address() });
    links.iter().filter(|link| link.physical).filter_map(card).collect()
}

fn in_tree(paths: &Paths) -> Vec<Card> {
    let Ok(listing) = std::fs::read_dir(paths.sys_net()) else { return Vec::new() };
    listing
        .flatten()
        .filter(|entry| entry.file_name() != "lo" && entry.path().join("device").exists())
        .filter_map(|entry| {
            let mac = std::fs::read_to_string(entry.path().join("address")).ok()?;
            let name = entry.file_name().to_string_lossy().into_owned();
            Some(Card { name, mac: address(&mac)? })
        })
        .collect()
}

/// Parses an address; the kernel shows all zeros for a device without one.
fn address(text: &str) -> Option<Mac> {
    Mac::parse(text.trim()).filter(|mac| !mac.is_zero())
}

/// Serial number and UUID, in this order.
pub(crate) fn dmi(paths: &Paths) -> Vec<Dmi> {
    let read = |(what, attribute): (&'static str, &str)| {
        let text = std::fs::read_to_string(paths.dmi(attribute)).ok()?;
        Some(Dmi { what, value: text.trim().to_owned() })
    };
    let values = [("serial number", "product_serial"), ("system UUID", "product_uuid")];
    values.into_iter().filter_map(read).collect()
}

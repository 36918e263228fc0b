//! The network of the root disk: iSCSI, NVMe over TCP, NFS. Whoever gave it, firmware or the kernel command
//! line, nmgen leaves its cards alone: without them the machine has no root.

use std::collections::BTreeSet;

use nmgen_core::profile::{Configuration, Profile};
use nmgen_document::mac::Mac;

use crate::command_line::CommandLine;
use crate::names::Names;
use crate::write::components;
use crate::write::others::Other;

/// nm-initrd-generator's priority for profiles of the firmware (`NMI_AUTOCONNECT_PRIORITY_FIRMWARE`).
const FIRMWARE: i32 = -200;
/// Its profile of `BOOTIF=`, the card of the boot loader, has this priority too: beside `ip=` for another card.
const BOOTIF: &str = "BOOTIF Connection";
/// The firmware's tables in ids, and in names of interfaces (dracut's module nvmf).
const TABLES: [&str; 3] = ["iBFT", "NBFT", "nbft"];

/// True for a profile that the root disk may depend on.
pub(crate) fn is_carried_by(other: &Other, line: &CommandLine) -> bool {
    let names_a_card = other.interface().is_some() || other.mac().is_some();
    is_firmwares(other) || (line.has_network_root && names_a_card)
}

/// True for a profile of the firmware's tables.
pub(crate) fn is_firmwares(other: &Other) -> bool {
    let is_table = |name: Option<&str>| {
        name.is_some_and(|name| TABLES.iter().any(|table| name.starts_with(table)))
    };
    (other.priority() == FIRMWARE && other.id() != Some(BOOTIF))
        || is_table(other.id())
        || is_table(other.interface())
}

/// Removes the components with a card of these profiles from the configuration; returns the removed
/// profiles.
pub(crate) fn leave_out(
    configuration: &mut Configuration,
    carriers: &[&Other],
    names: &Names,
) -> Vec<Profile> {
    let parents = || carriers.iter().filter_map(|carrier| carrier.parent());
    let interfaces: BTreeSet<&str> =
        carriers.iter().filter_map(|carrier| carrier.interface()).chain(parents()).collect();
    let macs: Vec<Mac> = carriers
        .iter()
        .filter_map(|carrier| carrier.mac())
        .chain(parents().filter_map(Mac::parse))
        .collect();
    let cards = names.present.iter().filter(|card| macs.contains(&card.mac));
    let cards: BTreeSet<&str> = cards.map(|card| card.name.as_str()).collect();
    components::leave_out(configuration, |profile| {
        let name = profile.keyfile.get("connection", "interface-name").unwrap_or(&profile.id);
        let mac = ["ethernet", "infiniband"]
            .iter()
            .find_map(|section| Mac::parse(profile.keyfile.get(section, "mac-address")?));
        interfaces.contains(name)
            || cards.contains(name)
            || mac.is_some_and(|mac| macs.contains(&mac))
    })
}

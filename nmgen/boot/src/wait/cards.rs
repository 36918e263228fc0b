//! Reads this machine's identity: network cards, DMI, host name.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use nmgen_core::node::{Card, Dmi, HostName};
use nmgen_document::mac::Mac;

use crate::files::{self, unless_missing};
use crate::root::Paths;
use crate::wait::{pci, permanent};

pub(crate) const CARDS: &str = "/sys/class/net";
/// Exists while udevd runs.
const UDEV: &str = "/run/udev/control";
/// Exists while udevd has pending events (`udev_queue_get_queue_is_empty`).
const UDEV_QUEUE: &str = "/run/udev/queue";
const USB: &str = "usb";
const SHARED_BUS: &str = "ccwgroup";
const DMI: [(&str, &str); 2] = [
    ("serial number", "/sys/class/dmi/id/product_serial"),
    ("system UUID", "/sys/class/dmi/id/product_uuid"),
];
/// From `ip=…:hostname:…`, which dracut later makes the host name; the current one; the configured
/// one.
const HOST_NAMES: [&str; 3] =
    ["/run/NetworkManager/initrd/hostname", "/proc/sys/kernel/hostname", "/etc/hostname"];

/// The network devices at one moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cards {
    /// Sorted by name; of cards with the same address only the one without a controller.
    pub(crate) list: Vec<Card>,
    /// All of them, sorted by name: the ports of a switch may share an address with the card behind them (DSA).
    pub(crate) all: Vec<Card>,
    /// Every network device with its final name.
    pub(crate) names: Vec<String>,
    /// The PCI addresses of cards, with their names.
    places: Vec<(pci::Address, String)>,
    /// The names that udev gives a card besides its own, with that one.
    alternative: Vec<(String, String)>,
    /// udevd has pending events, so more cards may appear.
    more_to_come: bool,
    /// Without udevd, as in a tree that is no running machine's, the cards are complete.
    pub(crate) is_static: bool,
    /// True if a card identifies this machine. A USB card with a locally administered address does not: a BMC's network interface
    /// has the same one on every machine of its kind.
    has_own_card: bool,
    /// Addresses of the cards that identify no machine.
    of_every_machine: Vec<Mac>,
}

impl Cards {
    /// Lists the present devices.
    ///
    /// # Errors
    /// The kernel's list of devices cannot be read.
    pub(crate) fn look(paths: &Paths) -> io::Result<Self> {
        let mut cards = Self {
            is_static: !paths.under(UDEV).exists(),
            more_to_come: paths.under(UDEV_QUEUE).exists(),
            ..Self::default()
        };
        let directory = unless_missing(fs::read_dir(paths.under(CARDS)))?;
        // Kernels before 5.6 don't report permanent addresses; then sysfs's current ones are used.
        let permanent = match paths.is_this_machine() {
            true => permanent::addresses().unwrap_or_default(),
            false => BTreeMap::new(),
        };
        // Address, whether it belongs to a controller, name, bus.
        let mut found: Vec<(Mac, bool, String, String)> = Vec::new();
        for entry in directory.into_iter().flatten() {
            let entry = entry?;
            let device = entry.path();
            let Ok(name) = entry.file_name().into_string() else { continue };
            // `bonding_masters` is a file.
            if !device.is_dir() {
                continue;
            }
            let entry = udev_entry(paths, &device);
            if !cards.is_static && !entry.as_deref().is_some_and(has_final_name) {
                cards.more_to_come = true;
                continue;
            }
            // A virtual function below netvsc, for one, which the other device speaks for.
            let is_unmanaged =
                entry.as_deref().is_some_and(|entry| has_line(entry, "E:NM_UNMANAGED=1"));
            if device.join("device").exists()
                && !is_unmanaged
                && let Some(mac) = permanent_mac(&device, &permanent)
            {
                let is_port = device.join("master").exists();
                // NetworkManager matches udev's word, which passes over virtio.
                let path = entry.as_deref().and_then(pci::of_entry);
                let place = path.or_else(|| pci::parse(&end_of_link(&device.join("device"))));
                cards.places.extend(place.map(|place| (place, name.clone())));
                let others = entry.iter().flat_map(|entry| alternative_names(entry));
                cards.alternative.extend(others.map(|other| (other.to_owned(), name.clone())));
                // `pci`, `usb`, `ccwgroup`.
                let bus = end_of_link(&device.join("device/subsystem"));
                found.push((mac, is_port, name.clone(), bus));
            }
            cards.names.push(name);
        }
        // A virtual function and the device before it share an address (netvsc); so do several cards on one
        // port of s390x's OSA.
        found.sort_unstable();
        let is_own = |(mac, _, _, bus): &(Mac, bool, String, String)| bus != USB || !mac.is_local();
        let others = found.iter().filter(|card| !is_own(card));
        cards.of_every_machine = others.map(|(mac, ..)| *mac).collect();
        cards.has_own_card = found.iter().any(is_own);
        let mut last = None;
        let mut all: Vec<(String, Mac, bool)> = Vec::new();
        for (mac, _, name, bus) in found {
            // The first one with its address, or one of several that share it rightly.
            let is_listed = last != Some(mac) || bus == SHARED_BUS;
            last = Some(mac);
            all.push((name, mac, is_listed));
        }
        all.sort_unstable();
        for (name, mac, is_listed) in all {
            let card = Card { name, mac };
            if is_listed {
                cards.list.push(card.clone());
            }
            cards.all.push(card);
        }
        cards.names.sort_unstable();
        Ok(cards)
    }

    /// True when no more cards are expected. A machine has at least one.
    pub(crate) fn are_settled(&self) -> bool {
        self.is_static || (!self.more_to_come && self.has_own_card)
    }

    /// True when udevd has no pending events: whatever it has announced is there.
    pub(crate) fn are_announced(&self) -> bool {
        self.is_static || !self.more_to_come
    }

    /// True for a card with an address that every machine of its kind has.
    pub(crate) fn is_of_every_machine(&self, card: &Card) -> bool {
        self.of_every_machine.contains(&card.mac)
    }

    /// The card with this address; of several, the one with this name.
    pub(crate) fn with_mac(&self, mac: &Mac, name: &str) -> Option<&Card> {
        let named = self.all.iter().find(|card| card.mac == *mac && card.name == name);
        named.or_else(|| self.list.iter().find(|card| card.mac == *mac))
    }

    /// The card at this PCI address; of several, the one with this name.
    pub(crate) fn at_pci(&self, address: pci::Address, name: &str) -> Option<&Card> {
        let is_its = |card: &&Card| {
            self.places.iter().any(|(place, its)| *place == address && *its == card.name)
        };
        self.named(name).filter(is_its).or_else(|| self.all.iter().find(is_its))
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Card> {
        self.all.iter().find(|card| card.name == name)
    }

    /// The card with this alternative name, where nothing has it for its own.
    pub(crate) fn also_named(&self, name: &str) -> Option<&Card> {
        let (_, own) = self.alternative.iter().find(|(other, _)| other == name)?;
        self.named(own).filter(|_| !self.has(name))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|known| known == name)
    }
}

/// udevd's database entry of a device. An empty one means that udev recorded nothing.
fn udev_entry(paths: &Paths, device: &Path) -> Option<String> {
    fs::read_to_string(paths.under(&format!("/run/udev/data/n{}", index(device)?))).ok()
}

/// udevd may rename a device until it has processed it. Its database entry may exist before, marked
/// as being renamed (`ID_RENAMING`, removed with the event of the new name) or processed
/// (`ID_PROCESSING`, systemd after 257).
fn has_final_name(entry: &str) -> bool {
    !has_line(entry, "E:ID_RENAMING=1") && !has_line(entry, "E:ID_PROCESSING=1")
}

/// The names from which the alternative ones of a card are, by systemd's `99-default.link`.
fn alternative_names(entry: &str) -> impl Iterator<Item = &str> {
    let names =
        entry.lines().filter_map(|line| line.strip_prefix("E:ID_NET_NAME_")?.split_once('='));
    let of_policy = names.filter(|(policy, _)| matches!(*policy, "ONBOARD" | "SLOT" | "PATH"));
    of_policy.map(|(_, name)| name)
}

fn has_line(entry: &str, wanted: &str) -> bool {
    entry.lines().any(|line| line == wanted)
}

/// The last part of the path that a link leads to.
fn end_of_link(link: &Path) -> String {
    let to = fs::read_link(link).unwrap_or_default();
    to.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A bond gives its ports one address; `bonding_slave` keeps each port's own.
fn permanent_mac(device: &Path, permanent: &BTreeMap<u32, Mac>) -> Option<Mac> {
    let read = |file| Mac::parse(&line(&device.join(file))?).filter(|mac| !mac.is_zero());
    read("bonding_slave/perm_hwaddr")
        .or_else(|| permanent.get(&index(device)?).copied())
        .or_else(|| read("address"))
}

fn index(device: &Path) -> Option<u32> {
    line(&device.join("ifindex"))?.parse().ok()
}

/// The serial number and the UUID.
pub(crate) fn dmi(paths: &Paths) -> Vec<Dmi> {
    let read =
        |(what, path): (&'static str, &str)| Some(Dmi { what, value: line(&paths.under(path))? });
    DMI.into_iter().filter_map(read).collect()
}

/// The first host name that is no placeholder; else a placeholder.
pub(crate) fn host_name(paths: &Paths) -> HostName {
    let names = HOST_NAMES.iter().filter_map(|path| line(&paths.under(path)));
    let mut names = names.map(|name| HostName::new(&name));
    names.find(|name| !name.is_placeholder()).unwrap_or_default()
}

/// The first line of a small file; `None` if empty.
pub(crate) fn line(path: &Path) -> Option<String> {
    let text = String::from_utf8(files::read(path).ok()?).ok()?;
    let line = text.lines().next().unwrap_or_default().trim();
    (!line.is_empty()).then(|| line.to_owned())
}

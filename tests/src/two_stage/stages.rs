//! The moments of a boot with two stages, and what each part of the network adds to them.

use super::{
    chain::{Link, Units},
    messages,
};
use crate::lab::{Entry, Inside, Result};

/// Units that exist for the network alone, and make kubelet wait.
const NETWORK: [&str; 8] = [
    "NetworkManager-wait-online.service",
    "dayone-bridge.service",
    "dayone-recover.service",
    "dayone-wait.service",
    "dayone.service",
    "nmstate-configuration.service",
    "nmstate.service",
    "ovs-configuration.service",
];

/// systemd's units of network devices, each of which starts when udev announces the device, and which outlast the pivot.
const NETWORK_DEVICE: &str = "sys-subsystem-net-devices-";

/// A boot: figures in seconds, moments after the kernel's start. What did not happen has none.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Boot {
    /// udev names the last network card, and has more rules for it.
    pub named: Option<f64>,
    /// systemd knows of the last card, which udev has announced: nobody in the initramfs uses a card before. On one core systemd
    /// may be the last to know.
    pub last_card: Option<f64>,
    /// nmgen.service starts in the initramfs.
    pub nmgen: Option<f64>,
    /// It is over.
    pub nmgen_end: Option<f64>,
    /// NetworkManager starts in the initramfs.
    pub early_manager: Option<f64>,
    /// Its network is there.
    pub early_online: Option<f64>,
    /// Ignition has fetched its configuration.
    pub fetched: Option<f64>,
    /// Time of nmgen-persist.service.
    pub persist: Option<f64>,
    /// Time of the end of nmgen.service.
    pub release: Option<f64>,
    /// The pivot to the real root.
    pub pivot: Option<f64>,
    /// NetworkManager starts in the running system.
    pub manager: Option<f64>,
    /// The units that make br-ex begin.
    pub makers: Option<f64>,
    /// They are over.
    pub makers_end: Option<f64>,
    /// kubelet starts.
    pub kubelet: Option<f64>,
    /// kubelet's critical chain.
    pub chain: Vec<Link>,
}

impl Boot {
    /// The boot of a running machine, whose br-ex these units make.
    ///
    /// # Errors
    /// If the machine does not tell.
    pub fn of(inside: &Inside, makers: &[&str]) -> Result<Self> {
        let entries = messages(inside)?;
        let early = Early(&entries);
        let units = Units::of(inside)?;
        let took = |start, end| Some(early.at(end)? - early.at(start)?);
        Ok(Self {
            named: early
                .moments(": renamed from ")
                .filter(|moment| Some(*moment) <= early.pivot())
                .last(),
            last_card: units.last_start(NETWORK_DEVICE, early.pivot().unwrap_or_default()),
            nmgen: early.at("Starting nmgen.service"),
            nmgen_end: early.at("Finished nmgen.service"),
            early_manager: early.at("Starting nm-initrd.service"),
            early_online: early.at("Finished nm-wait-online-initrd.service"),
            fetched: early.at("GET result: OK"),
            persist: took("Starting nmgen-persist.service", "Finished nmgen-persist.service"),
            release: took("Stopping nmgen.service", "Stopped nmgen.service"),
            pivot: early.pivot(),
            manager: units.start("NetworkManager.service"),
            makers: makers.iter().filter_map(|unit| units.start(unit)).reduce(f64::min),
            makers_end: makers.iter().filter_map(|unit| units.end(unit)).reduce(f64::max),
            kubelet: units.start("kubelet.service"),
            chain: units.critical_chain("kubelet.service"),
        })
    }

    /// The time that nmgen.service takes before the last card appears, for which everything else waits too.
    pub fn nmgen_before(&self) -> Option<f64> {
        let (start, end) = (self.nmgen?, self.nmgen_end?);
        Some(self.last_card?.clamp(start, end) - start)
    }

    /// The most that it takes once the last card is there: from the card's name on, with udev's other rules.
    pub fn nmgen_after_name(&self) -> Option<f64> {
        let (start, end) = (self.nmgen?, self.nmgen_end?);
        Some(end - self.named?.clamp(start, end))
    }

    /// The time that it takes once systemd knows of the last card, for which NetworkManager waits.
    pub fn nmgen_after(&self) -> Option<f64> {
        let (start, end) = (self.nmgen?, self.nmgen_end?);
        Some(end - self.last_card?.clamp(start, end))
    }

    /// The time from the last card to NetworkManager's start, whoever it is spent by.
    pub fn card_to_manager(&self) -> Option<f64> {
        Some(self.early_manager? - self.last_card?)
    }

    /// The time from the last card to a network in the initramfs.
    pub fn card_to_network(&self) -> Option<f64> {
        Some(self.early_online? - self.last_card?)
    }

    /// The network's units in kubelet's critical chain, beside NetworkManager itself, in their order.
    pub fn network_chain(&self) -> Vec<&Link> {
        let is_network = |link: &&Link| NETWORK.contains(&link.unit.as_str());
        self.chain.iter().rev().filter(is_network).collect()
    }

    /// The time that they take there.
    pub fn in_chain(&self) -> Option<f64> {
        let own = self.network_chain();
        (!own.is_empty()).then(|| own.iter().map(|link| link.took).sum())
    }
}

/// The journal of the initramfs.
struct Early<'e>(&'e [Entry]);

impl Early<'_> {
    fn moments(&self, text: &str) -> impl Iterator<Item = f64> {
        let found = self.0.iter().filter(move |entry| entry.message().contains(text));
        found.filter_map(|entry| Some(entry.moment()?.as_secs_f64()))
    }

    fn pivot(&self) -> Option<f64> {
        self.moments("Switching root").next()
    }

    fn at(&self, text: &str) -> Option<f64> {
        let pivot = self.pivot()?;
        self.moments(text).next().filter(|moment| *moment <= pivot)
    }
}

//! A node and its peer for the time of one test.

use std::{io::Write, path::Path, time::Duration};

use super::{
    Lab,
    computer::{BOOT, Computer},
    error::Result,
    gateway::Gateway,
    inside::Inside,
    netns::Netns,
    node::{Nic, Node},
    peer::Peer,
};

/// A bootable node, its disk and its peer. Dropping it removes all three.
#[derive(Debug)]
pub struct Case<'lab> {
    computer: Computer<'lab>,
    gateway: Gateway,
}

impl<'lab> Case<'lab> {
    pub(crate) fn new(lab: &'lab Lab, node: Node, peer: &Peer) -> Result<Self> {
        let computer = Computer::new(lab.place(), lab.rootfs(&node)?, node)?;
        let netns = Netns::create(lab.place().peer())?;
        add_bridges(&netns, peer, computer.nics())?;
        let gateway = Gateway::start(netns, peer, lab.place().state())?;
        Ok(Self { computer, gateway })
    }

    /// Powers the node on and waits until its start-up is over, whether or not every unit succeeded. Returns its inside, as each
    /// of the four ways to boot it does.
    pub fn boot(&mut self) -> Result<Inside> {
        let inside = self.power_on()?;
        self.wait_started(BOOT)?;
        Ok(inside)
    }

    /// Powers the node on and returns at once.
    pub fn power_on(&mut self) -> Result<Inside> {
        self.computer.power_on(&self.gateway)?;
        self.inside()
    }

    /// Waits until systemd has run every job of the start-up.
    pub fn wait_started(&mut self, limit: Duration) -> Result<()> {
        self.computer.wait_started(limit)
    }

    /// Shuts the node down in good order; its disk stays.
    pub fn shut_down(&mut self) -> Result<()> {
        self.computer.begin_shut_down()?;
        self.wait_off(BOOT)
    }

    /// Waits until the node has powered itself off; its disk stays.
    pub fn wait_off(&mut self, limit: Duration) -> Result<()> {
        self.computer.wait_off(&self.gateway, limit)
    }

    /// Follows a node that goes down by itself: after `systemctl reboot` in it, it is powered on again, with true.
    pub fn follow(&mut self, limit: Duration) -> Result<bool> {
        let reboots = self.computer.wait_end(&self.gateway, limit)?;
        if reboots {
            self.power_on()?;
        }
        Ok(reboots)
    }

    /// Shuts the node down and boots it again from the same disk, with the kernel's network state gone.
    pub fn reboot(&mut self) -> Result<Inside> {
        self.shut_down()?;
        self.boot()
    }

    /// Reboots the node and returns at once, for a boot that may not end.
    pub fn restart(&mut self) -> Result<Inside> {
        self.shut_down()?;
        self.power_on()
    }

    /// Cuts the power: nothing in the node is notified. Data written to its disk stays.
    pub fn cut_power(&mut self) -> Result<()> {
        self.computer.cut_power(&self.gateway)
    }

    /// The inside of the running node.
    ///
    /// # Errors
    /// [`NotRunning`](super::Error::NotRunning) if it is off.
    pub fn inside(&self) -> Result<Inside> {
        self.computer.inside()
    }

    /// The peer.
    pub fn peer(&self) -> &Gateway {
        &self.gateway
    }

    /// The peer, to change its behaviour.
    pub fn peer_mut(&mut self) -> &mut Gateway {
        &mut self.gateway
    }

    /// Plugs a further card in, now and for later boots.
    pub fn plug(&mut self, nic: Nic) -> Result<()> {
        self.computer.plug(&self.gateway, nic)
    }

    /// Takes a card out, now and for later boots.
    pub fn unplug(&mut self, nic: &str) {
        self.computer.unplug(&self.gateway, nic);
    }

    /// Plugs a card's cable in or pulls it, now and for later boots.
    pub fn connect(&mut self, nic: &str, on: bool) -> Result<()> {
        self.computer.connect(&self.gateway, nic, on)
    }

    /// Shows another file of the host at this path of the node, from the next boot on.
    pub fn replace(&mut self, path: &str, from: &Path) {
        self.computer.replace(path, from);
    }

    /// Journal, network and console of the node, for the report of a failed case.
    pub fn report(&self) -> String {
        self.computer.report()
    }
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = std::io::stderr().write_all(self.report().as_bytes());
        }
        let _ = self.computer.power_off(&self.gateway);
    }
}

/// The peer's networks, as bridges with the cards of these nodes as ports.
pub(crate) fn add_bridges(netns: &Netns, peer: &Peer, nics: &[Nic]) -> Result<()> {
    peer.segments(nics).into_iter().try_for_each(|segment| add_bridge(netns, segment))
}

/// A network: a bridge with the containers' cards as ports.
fn add_bridge(netns: &Netns, name: &str) -> Result<()> {
    // Ports forward at once, and no snooping filters neighbour discovery.
    let bridge =
        ["link", "add", name, "type", "bridge", "forward_delay", "0", "mcast_snooping", "0"];
    netns.ip(&bridge)?;
    netns.ip(&["link", "set", name, "up"])?;
    Ok(())
}

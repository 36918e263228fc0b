//! A node's computer: its disk, its cards and its power. What is at the other end of the cables is its caller's.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    cgroups,
    container::{Boot, Container},
    disk,
    error::{Error, Result},
    gateway::Gateway,
    inside::Inside,
    netns::Netns,
    node::{Nic, Node},
    place::Place,
};

/// Bound on a node's boot; 2 s is usual.
pub(crate) const BOOT: Duration = Duration::from_secs(90);

/// A computer at a place. Dropping it removes everything of it but the peer's ends of its cables.
#[derive(Debug)]
pub(crate) struct Computer<'lab> {
    container: Option<Container>,
    network: Option<Netns>,
    plugged: Vec<Nic>,
    node: Node,
    rootfs: PathBuf,
    disk: PathBuf,
    place: &'lab Place,
}

impl<'lab> Computer<'lab> {
    /// Makes the disk; the power is off.
    pub(crate) fn new(place: &'lab Place, rootfs: PathBuf, node: Node) -> Result<Self> {
        let disk = disk::create(&node, &rootfs, place.state())?;
        let plugged = node.nics.clone();
        Ok(Self { container: None, network: None, plugged, node, rootfs, disk, place })
    }

    /// The node's name.
    pub(crate) fn name(&self) -> &str {
        &self.node.hostname
    }

    /// Its cards.
    pub(crate) fn nics(&self) -> &[Nic] {
        &self.plugged
    }

    /// Powers the node on and returns at once.
    pub(crate) fn power_on(&mut self, gateway: &Gateway) -> Result<()> {
        self.network = None;
        let network = Netns::create(self.place.node())?;
        for nic in &self.plugged {
            gateway.plug(&network, nic)?;
        }
        let boot = Boot {
            node: &self.node,
            rootfs: &self.rootfs,
            disk: &self.disk,
            place: self.place,
            netns: &network.path(),
        };
        self.container = Some(Container::start(&boot)?);
        self.network = Some(network);
        Ok(())
    }

    /// Waits until systemd has run every job of the start-up.
    pub(crate) fn wait_started(&mut self, limit: Duration) -> Result<()> {
        self.container.as_mut().ok_or(Error::NotRunning)?.wait_ready(limit)
    }

    /// Begins to shut the node down in good order; its disk stays.
    pub(crate) fn begin_shut_down(&self) -> Result<()> {
        self.inside()?.run(&["systemctl", "poweroff", "--no-block"])?.success()?;
        Ok(())
    }

    /// Waits until the node has powered itself off; its disk stays.
    pub(crate) fn wait_off(&mut self, gateway: &Gateway, limit: Duration) -> Result<()> {
        let mut container = self.container.take().ok_or(Error::NotRunning)?;
        container.wait_end(limit)?;
        self.power_off(gateway)
    }

    /// Waits for the end of a node that goes down by itself, true for a reboot. Then it is off.
    pub(crate) fn wait_end(&mut self, gateway: &Gateway, limit: Duration) -> Result<bool> {
        let mut container = self.container.take().ok_or(Error::NotRunning)?;
        let reboots = container.wait_end(limit)?;
        // Its watcher ends what is in the cgroups of this name, when the driver's end of its input closes.
        drop(container);
        self.power_off(gateway)?;
        Ok(reboots)
    }

    /// Cuts the power: nothing in the node is notified. Data written to its disk stays.
    pub(crate) fn cut_power(&mut self, gateway: &Gateway) -> Result<()> {
        self.container.take().ok_or(Error::NotRunning)?.cut_power()?;
        self.power_off(gateway)
    }

    /// The inside of the running node.
    pub(crate) fn inside(&self) -> Result<Inside> {
        self.container
            .as_ref()
            .map(|container| Inside::container(container.leader()))
            .ok_or(Error::NotRunning)
    }

    /// Plugs a further card in, now and for later boots.
    pub(crate) fn plug(&mut self, gateway: &Gateway, nic: Nic) -> Result<()> {
        if let Some(network) = &self.network {
            gateway.plug(network, &nic)?;
        }
        self.plugged.push(nic);
        Ok(())
    }

    /// Takes a card out, now and for later boots.
    pub(crate) fn unplug(&mut self, gateway: &Gateway, nic: &str) {
        self.plugged
            .iter()
            .filter(|plugged| plugged.name == nic)
            .for_each(|plugged| gateway.unplug(plugged));
        self.plugged.retain(|plugged| plugged.name != nic);
    }

    /// Plugs a card's cable in or pulls it, now and for later boots.
    pub(crate) fn connect(&mut self, gateway: &Gateway, nic: &str, on: bool) -> Result<()> {
        if self.network.is_some() {
            gateway.carrier(nic, on)?;
        }
        for plugged in self.plugged.iter_mut().filter(|plugged| plugged.name == nic) {
            plugged.carrier = on;
        }
        Ok(())
    }

    /// Shows another file of the host at this path of the node, from the next boot on.
    pub(crate) fn replace(&mut self, path: &str, from: &Path) {
        for (shown, at) in &mut self.node.binds {
            if at == Path::new(path) {
                from.clone_into(shown);
            }
        }
    }

    /// Journal, network and console of the node, for the report of a failed case.
    pub(crate) fn report(&self) -> String {
        let console = self.container.as_ref().map(Container::console).unwrap_or_default();
        let commands = "journalctl --boot --no-pager --output=short-monotonic --lines=120; \
                        echo; nmcli device; ip address; ip route";
        let journal = match self.inside().and_then(|inside| inside.run(&["sh", "-c", commands])) {
            Ok(output) => output.stdout,
            Err(e) => e.to_string(),
        };
        let name = self.name();
        format!("--- console of {name}\n{console}\n--- {name}\n{journal}\n---\n")
    }

    /// Ends what is left of a boot, the cables' other ends too.
    pub(crate) fn power_off(&mut self, gateway: &Gateway) -> Result<()> {
        self.container = None;
        for nic in &self.plugged {
            // Removed at once; the kernel removes them with the namespace only some time later.
            gateway.unplug(nic);
        }
        self.network = None;
        cgroups::remove(self.place.name())
    }
}

impl Drop for Computer<'_> {
    fn drop(&mut self) {
        self.container = None;
        self.network = None;
        let _ = cgroups::remove(self.place.name());
        let _ = disk::unmount(self.place.state());
        let _ = fs::remove_dir_all(self.place.state());
    }
}

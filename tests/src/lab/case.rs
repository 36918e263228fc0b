//! A node and its peer for the time of one test.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::{
    Lab, cgroups,
    container::{Boot, Container},
    disk,
    error::{Error, Result},
    gateway::Gateway,
    inside::Inside,
    netns::Netns,
    node::{Nic, Node},
    peer::Peer,
};

/// Bound on a node's boot; 2 s is usual.
const BOOT: Duration = Duration::from_secs(90);

/// A bootable node, its disk and its peer. Dropping it removes all three.
#[derive(Debug)]
pub struct Case<'lab> {
    container: Option<Container>,
    network: Option<Netns>,
    gateway: Gateway,
    plugged: Vec<Nic>,
    node: Node,
    rootfs: PathBuf,
    disk: PathBuf,
    lab: &'lab Lab,
}

impl<'lab> Case<'lab> {
    pub(crate) fn new(lab: &'lab Lab, node: Node, peer: &Peer) -> Result<Self> {
        let rootfs = lab.rootfs(&node)?;
        let disk = disk::create(&node, &rootfs, lab.place().state())?;
        let netns = Netns::create(lab.place().peer())?;
        for segment in peer.segments(&node.nics) {
            add_bridge(&netns, segment)?;
        }
        let gateway = Gateway::start(netns, peer, lab.place().state())?;
        Ok(Self {
            container: None,
            network: None,
            gateway,
            plugged: node.nics.clone(),
            node,
            rootfs,
            disk,
            lab,
        })
    }

    /// Powers the node on and waits until its start-up is over, whether or not every unit succeeded.
    pub fn boot(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.power_on()?;
        self.wait_started(BOOT)?;
        Ok(start.elapsed())
    }

    /// Powers the node on and returns at once.
    pub fn power_on(&mut self) -> Result<()> {
        self.network = None;
        let network = Netns::create(self.lab.place().node())?;
        for nic in &self.plugged {
            self.gateway.plug(&network, nic)?;
        }
        let boot = Boot {
            node: &self.node,
            rootfs: &self.rootfs,
            disk: &self.disk,
            place: self.lab.place(),
            netns: &network.path(),
        };
        self.container = Some(Container::start(&boot)?);
        self.network = Some(network);
        Ok(())
    }

    /// Waits until systemd has run every job of the start-up.
    pub fn wait_started(&mut self, limit: Duration) -> Result<()> {
        self.container.as_mut().ok_or(Error::NotRunning)?.wait_ready(limit)
    }

    /// Shuts the node down in good order; its disk stays.
    pub fn shut_down(&mut self) -> Result<()> {
        self.inside()?.run(&["systemctl", "poweroff", "--no-block"])?.success()?;
        self.wait_off(BOOT)
    }

    /// Waits until the node has powered itself off; its disk stays.
    pub fn wait_off(&mut self, limit: Duration) -> Result<()> {
        let mut container = self.container.take().ok_or(Error::NotRunning)?;
        container.wait_end(limit)?;
        self.power_off()
    }

    /// Follows a node that goes down by itself: after `systemctl reboot` in it, it is powered on again, with true.
    pub fn follow(&mut self, limit: Duration) -> Result<bool> {
        let mut container = self.container.take().ok_or(Error::NotRunning)?;
        let reboots = container.wait_end(limit)?;
        // Its watcher ends what is in the cgroups of this name, when the driver's end of its input closes.
        drop(container);
        self.power_off()?;
        if reboots {
            self.power_on()?;
        }
        Ok(reboots)
    }

    /// Shuts the node down and boots it again from the same disk, with the kernel's network state gone.
    pub fn reboot(&mut self) -> Result<Duration> {
        self.shut_down()?;
        self.boot()
    }

    /// Reboots the node and returns at once, for a boot that may not end.
    pub fn restart(&mut self) -> Result<()> {
        self.shut_down()?;
        self.power_on()
    }

    /// Cuts the power: nothing in the node is notified. Data written to its disk stays.
    pub fn cut_power(&mut self) -> Result<()> {
        self.container.take().ok_or(Error::NotRunning)?.cut_power()?;
        self.power_off()
    }

    /// The inside of the running node.
    ///
    /// # Errors
    /// [`Error::NotRunning`] if it is off.
    pub fn inside(&self) -> Result<Inside> {
        self.container.as_ref().map(|it| Inside::container(it.leader())).ok_or(Error::NotRunning)
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
        if let Some(network) = &self.network {
            self.gateway.plug(network, &nic)?;
        }
        self.plugged.push(nic);
        Ok(())
    }

    /// Takes a card out, now and for later boots.
    pub fn unplug(&mut self, nic: &str) {
        self.gateway.unplug(nic);
        self.plugged.retain(|plugged| plugged.name != nic);
    }

    /// Plugs a card's cable in or pulls it, now and for later boots.
    pub fn connect(&mut self, nic: &str, on: bool) -> Result<()> {
        if self.network.is_some() {
            self.gateway.carrier(nic, on)?;
        }
        for plugged in self.plugged.iter_mut().filter(|plugged| plugged.name == nic) {
            plugged.carrier = on;
        }
        Ok(())
    }

    /// Shows another file of the host at this path of the node, from the next boot on.
    pub fn replace(&mut self, path: &str, from: &Path) {
        for (shown, at) in &mut self.node.binds {
            if at == Path::new(path) {
                from.clone_into(shown);
            }
        }
    }

    /// Journal, network and console of the node, for the report of a failed case.
    pub fn report(&self) -> String {
        let console = self.container.as_ref().map(Container::console).unwrap_or_default();
        let commands = "journalctl --boot --no-pager --output=short-monotonic --lines=120; \
                        echo; nmcli device; ip address; ip route";
        let journal = match self.inside().and_then(|it| it.run(&["sh", "-c", commands])) {
            Ok(output) => output.stdout,
            Err(e) => e.to_string(),
        };
        format!("--- console\n{console}\n--- node\n{journal}\n---\n")
    }

    fn power_off(&mut self) -> Result<()> {
        for nic in &self.plugged {
            // Removed at once; the kernel removes them with the namespace only some time later.
            self.gateway.unplug(&nic.name);
        }
        self.network = None;
        cgroups::remove(self.lab.place().name())
    }
}

impl Drop for Case<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = std::io::stderr().write_all(self.report().as_bytes());
        }
        self.container = None;
        let _ = self.power_off();
        let _ = disk::unmount(self.lab.place().state());
        let _ = fs::remove_dir_all(self.lab.place().state());
    }
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

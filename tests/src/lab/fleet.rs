//! Several nodes at one peer.

use std::{
    fs,
    io::Write,
    time::{Duration, Instant},
};

use super::{
    Lab,
    case::add_bridges,
    computer::{BOOT, Computer},
    error::{Error, Result},
    gateway::Gateway,
    inside::Inside,
    netns::Netns,
    node::Node,
    peer::Peer,
    place::Place,
};

/// Bootable nodes at one peer, known by their names. Dropping them removes everything.
#[derive(Debug)]
pub struct Fleet<'lab> {
    computers: Vec<Computer<'lab>>,
    gateway: Gateway,
    place: &'lab Place,
}

impl<'lab> Fleet<'lab> {
    pub(crate) fn new(
        lab: &'lab Lab,
        places: &'lab [Place],
        nodes: Vec<Node>,
        peer: &Peer,
    ) -> Result<Self> {
        let netns = Netns::create(lab.place().peer())?;
        let nics: Vec<_> = nodes.iter().flat_map(|node| node.nics.clone()).collect();
        add_bridges(&netns, peer, &nics)?;
        let gateway = Gateway::start(netns, peer, lab.place().state())?;
        let mut computers = Vec::new();
        for ((number, mut node), place) in nodes.into_iter().enumerate().zip(places) {
            // Cards of all nodes have the same names, and their cables end in one namespace.
            for nic in &mut node.nics {
                nic.port = Some(format!("p{number}-{}", nic.name));
            }
            let id = format!("da701ab00000000000000000000001{number:02x}\n");
            let node = node.file("/etc/machine-id", &id, 0o444);
            computers.push(Computer::new(place, lab.rootfs(&node)?, node)?);
        }
        Ok(Self { computers, gateway, place: lab.place() })
    }

    /// Boots these nodes, all at once, and waits until the start-up of each is over.
    ///
    /// # Errors
    /// If one does not start.
    pub fn boot(&mut self, names: &[&str]) -> Result<Duration> {
        let start = Instant::now();
        self.power_on(names)?;
        for name in names {
            self.computer(name)?.wait_started(BOOT)?;
        }
        Ok(start.elapsed())
    }

    /// Powers these nodes on and returns at once.
    ///
    /// # Errors
    /// If one does not start.
    pub fn power_on(&mut self, names: &[&str]) -> Result<()> {
        for name in names {
            let gateway = &self.gateway;
            of(&mut self.computers, name)?.power_on(gateway)?;
        }
        Ok(())
    }

    /// Reboots these nodes, all at once, and returns when they are powered on again.
    ///
    /// # Errors
    /// If one is off, or does not shut down.
    pub fn restart(&mut self, names: &[&str]) -> Result<()> {
        for name in names {
            self.computer(name)?.begin_shut_down()?;
        }
        for name in names {
            let gateway = &self.gateway;
            of(&mut self.computers, name)?.wait_off(gateway, BOOT)?;
        }
        self.power_on(names)
    }

    /// Cuts the power of a node: nothing in it is notified.
    ///
    /// # Errors
    /// [`Error::NotRunning`] if it is off.
    pub fn cut_power(&mut self, name: &str) -> Result<()> {
        let gateway = &self.gateway;
        of(&mut self.computers, name)?.cut_power(gateway)
    }

    /// The inside of a running node.
    ///
    /// # Errors
    /// [`Error::NotRunning`] if it is off, or no node of this name.
    pub fn inside(&self, name: &str) -> Result<Inside> {
        let found = self.computers.iter().find(|computer| computer.name() == name);
        found.ok_or(Error::NotRunning)?.inside()
    }

    /// The nodes' names, in their order.
    pub fn names(&self) -> Vec<String> {
        self.computers.iter().map(|computer| computer.name().to_owned()).collect()
    }

    /// The peer of all nodes.
    pub fn peer(&self) -> &Gateway {
        &self.gateway
    }

    /// Journals, networks and consoles, for the report of a failed case.
    pub fn report(&self) -> String {
        self.computers.iter().map(Computer::report).collect()
    }

    fn computer(&mut self, name: &str) -> Result<&mut Computer<'lab>> {
        of(&mut self.computers, name)
    }
}

fn of<'c, 'lab>(all: &'c mut [Computer<'lab>], name: &str) -> Result<&'c mut Computer<'lab>> {
    all.iter_mut().find(|computer| computer.name() == name).ok_or(Error::NotRunning)
}

impl Drop for Fleet<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let _ = std::io::stderr().write_all(self.report().as_bytes());
        }
        for computer in &mut self.computers {
            let _ = computer.power_off(&self.gateway);
        }
        // The peer's; each node removes its own.
        let _ = fs::remove_dir_all(self.place.state());
    }
}

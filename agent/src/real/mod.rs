//! The real network: NetworkManager, the kernel, Open vSwitch.

mod readiness;
mod restore;
mod verify;

use std::{cell::RefCell, time::Duration};

use crate::{
    dbus::{Bus, BusError, Checkpoint},
    durable::FileError,
    identity,
    netlink::{Address, Events, Netlink},
    network::{Before, Network, NetworkError},
    ovsdb::Ovsdb,
    paths::Paths,
    probe::{self, Probe, ProbeResult},
    settings::Wait,
    state::{Macs, State},
    takeover::{self, Leftovers},
    wants::{Gateway, LinkRef, Wants},
};

/// Connections to all of them.
pub(crate) struct RealNetwork<'a> {
    paths: &'a Paths,
    wait: &'a Wait,
    bus: Bus,
    netlink: Netlink,
    /// Addresses that someone else put on the document's interfaces and that stay theirs.
    foreign: RefCell<Vec<Address>>,
}

impl<'a> RealNetwork<'a> {
    /// Connects to the bus and the kernel; neither NetworkManager nor OVSDB need be there yet.
    pub(crate) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self, NetworkError> {
        Ok(Self {
            paths,
            wait,
            bus: Bus::connect().await?,
            netlink: Netlink::connect()?,
            foreign: RefCell::default(),
        })
    }

    /// Checkpoints that were not there before: ours, whoever of us made them.
    async fn own_checkpoints(&self, before: &Before) -> Result<Vec<Checkpoint>, BusError> {
        let mut all = self.bus.checkpoints().await?;
        all.retain(|c| !before.checkpoints.contains(c));
        Ok(all)
    }

    /// Addresses on the document's interfaces that no profile and no lease put there: a
    /// keepalived VIP, say. nmstate would neither list nor keep them: reapplying a profile makes
    /// NetworkManager remove what the profile does not have.
    async fn foreign_addresses(
        &self,
        wants: &Wants,
        all: &[Address],
    ) -> Result<Vec<Address>, NetworkError> {
        let mut foreign = Vec::new();
        let with_ip = wants
            .addresses
            .iter()
            .map(|a| (&a.link, a.ip.is_ipv4()))
            .chain(wants.dynamic.iter().filter(|d| d.v4).map(|d| (&d.link, true)))
            .chain(wants.dynamic.iter().filter(|d| d.v6).map(|d| (&d.link, false)));
        let with_ip: Vec<(&String, bool)> = with_ip.collect();
        let mut links: Vec<&String> = with_ip.iter().map(|(link, _)| *link).collect();
        links.sort_unstable();
        links.dedup();
        for link in links {
            let candidates = all.iter().filter(|a| {
                a.on.link == *link
                    && a.global
                    && !a.dynamic
                    && with_ip.contains(&(link, a.on.ip.is_ipv4()))
                    && !wants.addresses.contains(&a.on)
            });
            let candidates: Vec<&Address> = candidates.collect();
            if candidates.is_empty() {
                continue;
            }
            let profile = self.bus.profile_addresses(link).await?;
            foreign.extend(candidates.into_iter().filter(|a| !profile.contains(&a.on.ip)).cloned());
        }
        Ok(foreign)
    }

    /// Never returns: puts foreign addresses back as soon as the kernel says that they went, as
    /// every moment without a VIP is one without what it serves.
    async fn guard_foreign(&self) -> Result<std::convert::Infallible, NetworkError> {
        if self.foreign.borrow().is_empty() {
            return std::future::pending().await;
        }
        let mut events = Events::addresses()?;
        loop {
            // The interface may be down or gone for a moment; its return is an event too.
            if let Err(error) = self.put_foreign_back().await {
                tracing::debug!("{error}");
            }
            events.changed().await?;
        }
    }

    /// Puts back foreign addresses that got lost.
    async fn put_foreign_back(&self) -> Result<(), NetworkError> {
        let foreign = self.foreign.borrow().clone();
        if foreign.is_empty() {
            return Ok(());
        }
        let now = self.netlink.addresses().await?;
        for address in foreign.iter().filter(|f| !now.iter().any(|a| a.on == f.on)) {
            self.netlink.put_back(address).await?;
            tracing::info!(address = %address.on, "an address of someone else's was put back");
        }
        Ok(())
    }
}

impl Network for RealNetwork<'_> {
    async fn ready(&self, wants: &Wants, say: &dyn Fn(&str, Duration)) -> Result<(), NetworkError> {
        readiness::ready(self, wants, say).await
    }

    async fn current(&self) -> Result<State, NetworkError> {
        Ok(State::retrieve().await?)
    }

    async fn settle(&self, desired: State) -> Result<State, NetworkError> {
        let links = self.netlink.links().await?;
        Ok(desired.with_copied_macs(|name| {
            let wanted = LinkRef::Name(name.to_owned());
            let link = links.iter().find(|link| link.is(&wanted))?;
            Some(Macs { permanent: link.permanent_mac.clone(), present: link.mac.clone() })
        }))
    }

    async fn snapshot(&self, wants: &Wants) -> Result<Before, NetworkError> {
        let bridges = async {
            if wants.ovs {
                Ok::<_, NetworkError>(
                    Ovsdb::connect(&self.paths.ovsdb_socket()).await?.bridges().await?,
                )
            } else {
                Ok(Vec::new())
            }
        };
        let kernel = async {
            let addresses = self.netlink.addresses().await?;
            Ok::<_, NetworkError>((addresses, self.netlink.default_routes().await?))
        };
        let manager = async {
            Ok::<_, NetworkError>((self.bus.active().await?, self.bus.checkpoints().await?))
        };
        // Three different parties: none waits for another.
        let (bridges, (addresses, routes), (active, checkpoints)) =
            tokio::try_join!(bridges, kernel, manager)?;
        *self.foreign.borrow_mut() = self.foreign_addresses(wants, &addresses).await?;
        Ok(Before {
            addresses: addresses
                .into_iter()
                // Temporary IPv6 addresses change by themselves.
                .filter(|a| a.global && (!a.dynamic || a.on.ip.is_ipv4()))
                .map(|a| a.on)
                .collect(),
            gateways: routes
                .into_iter()
                .map(|r| Gateway { link: Some(r.link), ip: r.gateway })
                .collect(),
            active,
            checkpoints,
            bridges,
            hostname: if wants.hostname {
                Some(identity::current(self.paths)?.as_str().to_owned())
            } else {
                None
            },
        })
    }

    async fn probe(&self, probes: &[Probe], bound: Duration) -> Vec<ProbeResult> {
        probe::run(probes, bound, self.paths, &self.netlink).await
    }

    async fn leftovers(&self, wants: &Wants, before: &Before) -> Result<Leftovers, NetworkError> {
        if wants.bridges.is_empty() {
            return Ok(Leftovers::default());
        }
        Ok(takeover::find(&self.bus.profiles().await?, &before.bridges, wants))
    }

    async fn checkpoint(&self, seconds: u32) -> Result<Checkpoint, NetworkError> {
        Ok(self.bus.create_checkpoint(seconds).await?)
    }

    async fn take_over(&self, leftovers: &Leftovers) -> Result<(), NetworkError> {
        for profile in &leftovers.profiles {
            tracing::info!(profile = %profile.id, "taking over: the profile goes");
            self.bus.delete_profile(profile).await?;
        }
        let names: Vec<String> = leftovers.bridges.iter().map(|b| b.name.clone()).collect();
        if !names.is_empty() {
            tracing::info!(bridges = ?names, "taking over: the bridges go");
            Ovsdb::connect(&self.paths.ovsdb_socket()).await?.remove(&names).await?;
        }
        Ok(())
    }

    async fn apply(
        &self,
        desired: &State,
        held: Option<&Checkpoint>,
        seconds: u32,
    ) -> Result<(), NetworkError> {
        // nmstate makes a checkpoint of its own, and NetworkManager refuses a second one on the
        // same devices. Between the two the journal alone protects: `roll_back` restores
        // profiles from it and needs no checkpoint.
        if let Some(checkpoint) = held {
            self.bus.destroy_checkpoint(checkpoint).await?;
        }
        tokio::select! {
            applied = desired.apply_uncommitted(seconds) => applied?,
            lost = self.guard_foreign() => match lost? {},
        }
        self.put_foreign_back().await
    }

    async fn verify(
        &self,
        desired: &State,
        wants: &Wants,
        bound: Duration,
    ) -> Result<(), NetworkError> {
        tokio::select! {
            verified = verify::verify(self, desired, wants, bound) => verified,
            lost = self.guard_foreign() => match lost? {},
        }
    }

    async fn commit(&self, before: &Before) -> Result<(), NetworkError> {
        for checkpoint in self.own_checkpoints(before).await? {
            self.bus.destroy_checkpoint(&checkpoint).await?;
        }
        Ok(())
    }

    async fn roll_back(
        &self,
        before: &Before,
        bridges: &[String],
        restore_files: &dyn Fn() -> Result<bool, FileError>,
        step: Duration,
    ) -> Result<(), NetworkError> {
        restore::roll_back(self, before, bridges, restore_files, step).await
    }

    async fn restored(&self, before: &Before, bound: Duration) -> Result<(), NetworkError> {
        restore::restored(self, before, bound).await
    }
}

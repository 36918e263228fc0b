//! The real network: NetworkManager, the kernel, Open vSwitch.

use std::time::Duration;

use super::{
    Before, Network, NetworkError, activate, automatic, bridges,
    clients::Clients,
    foreign, planning, readiness, restore,
    takeover::{self, Leftovers},
    uplinks::Uplinks,
    verify,
};
use crate::{
    bridge::plan::BridgePlan,
    client::{
        dbus::{Active, Checkpoint},
        netlink::Link,
        ovsdb::Ovsdb,
    },
    document::identity,
    paths::Paths,
    probe::{self, Probe, ProbeResult},
    settings::{Settings, Wait},
    state::{Macs, State},
    wants::{Gateway, LinkRef, Wants},
};

/// The network of this node.
pub(crate) struct RealNetwork<'a>(Clients<'a>);

impl<'a> RealNetwork<'a> {
    /// Connects to the bus and the kernel; neither NetworkManager nor OVSDB need be there yet.
    pub(crate) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self, NetworkError> {
        Ok(Self(Clients::connect(paths, wait).await?))
    }

    async fn ovsdb(&self) -> Result<Ovsdb, NetworkError> {
        Ok(Ovsdb::connect(&self.0.paths.ovsdb_socket()).await?)
    }

    /// The plan of the automatic bridge, once its uplink is known.
    pub(crate) async fn plan_bridge(
        &self,
        settings: &Settings,
        say: &dyn Fn(&str, Duration),
    ) -> Result<BridgePlan, NetworkError> {
        planning::planned(&self.0, settings, say).await
    }

    /// The parts of the plan that the node lacks, in words.
    pub(crate) async fn lacking(&self, plan: &BridgePlan) -> Result<Vec<String>, NetworkError> {
        automatic::lacking(&self.0, plan).await
    }

    /// The devices of those of `profiles` that NetworkManager does not have, or that are not up
    /// although their device carries a default route.
    pub(crate) async fn lost(&self, profiles: &[Active]) -> Result<Vec<String>, NetworkError> {
        activate::lost(&self.0, profiles).await
    }

    /// Activates those of `profiles` that are not active.
    pub(crate) async fn activate(
        &self,
        profiles: &[Active],
        say: &dyn Fn(&str, Duration),
    ) -> Result<(), NetworkError> {
        activate::activate(&self.0, profiles, say).await
    }
}

impl Network for RealNetwork<'_> {
    async fn ready(&self, wants: &Wants, say: &dyn Fn(&str, Duration)) -> Result<(), NetworkError> {
        readiness::ready(&self.0, wants, say).await
    }

    async fn current(&self) -> Result<State, NetworkError> {
        Ok(State::retrieve().await?)
    }

    async fn settle(&self, desired: State) -> Result<State, NetworkError> {
        let links = self.0.netlink.links().await?;
        let card = |mac: &str| {
            let wanted = LinkRef::Mac(mac.to_owned());
            let mut cards = links.iter().filter(|link| link.physical && link.is(&wanted));
            // Ports of a bond have its address and their own permanent ones.
            let permanent = cards.clone().find(|link| link.is_permanent(mac));
            permanent.or_else(|| cards.next()).map(|link| link.name.clone())
        };
        Ok(desired.settled(card, |name| {
            let wanted = LinkRef::Name(name.to_owned());
            let link = links.iter().find(|link| link.is(&wanted))?;
            Some(Macs { permanent: link.permanent_mac.clone(), present: link.mac.clone() })
        }))
    }

    async fn snapshot(&self, wants: &Wants) -> Result<Before, NetworkError> {
        let bridges = async {
            let mut all = match self.ovsdb().await {
                Ok(mut ovsdb) => ovsdb.bridges().await?,
                // A document without OVS may still remove bridges of an earlier one.
                Err(error) if !wants.ovs => {
                    tracing::debug!("{error}");
                    Vec::new()
                }
                Err(error) => return Err(error),
            };
            // Skip OVN's own bridge, which has a port for each pod.
            all.retain(|bridge| takeover::may_change(bridge, wants));
            Ok::<_, NetworkError>(all)
        };
        let kernel = async {
            let links = self.0.netlink.links().await?;
            let addresses = self.0.netlink.addresses().await?;
            Ok::<_, NetworkError>((links, addresses, self.0.netlink.default_routes().await?))
        };
        let manager = async {
            let bus = &self.0.bus;
            let (active, activated) = (bus.active().await?, bus.activated().await?);
            Ok::<_, NetworkError>((active, activated, bus.checkpoints().await?))
        };
        // In parallel: the three sources are independent.
        let (bridges, (links, addresses, routes), (active, activated, checkpoints)) =
            tokio::try_join!(bridges, kernel, manager)?;
        let foreign = foreign::find(&self.0, wants, &addresses).await?;
        let (dynamic, fixed): (Vec<_>, Vec<_>) =
            addresses.into_iter().filter(|a| a.is_global()).partition(|a| a.dynamic);
        // Temporary IPv6 addresses change by themselves.
        let leases = dynamic.into_iter().filter(|a| a.on.ip.is_ipv4());
        let has_profile = |link: &Link| active.iter().any(|it| it.device == link.name);
        let with_profile = links.into_iter().filter(has_profile);
        let mtus = with_profile.filter_map(|link| Some((link.name, link.mtu?))).collect();
        let mut leased: Vec<String> = leases.map(|a| a.on.link).collect();
        leased.dedup();
        Ok(Before {
            addresses: fixed.into_iter().map(|a| a.on).collect(),
            leased,
            gateways: routes
                .into_iter()
                .map(|r| Gateway { link: Some(r.link), ip: r.gateway })
                .collect(),
            active,
            activated,
            mtus,
            checkpoints,
            checkpoint_seconds: 0,
            bridges,
            foreign,
            reapply: false,
            hostname: if wants.hostname {
                Some(identity::current(self.0.paths)?.as_str().to_owned())
            } else {
                None
            },
        })
    }

    async fn probe(&self, probes: &[Probe], bound: Duration) -> Vec<ProbeResult> {
        probe::run(probes, bound, self.0.paths, &self.0.netlink).await
    }

    async fn leftovers(&self, wants: &Wants, before: &Before) -> Result<Leftovers, NetworkError> {
        if wants.bridges.is_empty() {
            return Ok(Leftovers::default());
        }
        Ok(takeover::find(&self.0.bus.profiles().await?, &before.bridges, wants))
    }

    async fn checkpoint(&self, seconds: u32) -> Result<Checkpoint, NetworkError> {
        Ok(self.0.bus.create_checkpoint(seconds).await?)
    }

    async fn take_over(&self, leftovers: &Leftovers) -> Result<(), NetworkError> {
        for profile in &leftovers.profiles {
            tracing::info!(profile = %profile.id, "taking over: removing the profile");
            self.0.bus.delete_profile(profile).await?;
        }
        if !leftovers.bridges.is_empty() {
            let names: Vec<&str> = leftovers.bridges.iter().map(|b| b.name.as_str()).collect();
            tracing::info!(bridges = ?names, "taking over: removing the bridges");
            bridges::take_over(&mut self.ovsdb().await?, &leftovers.bridges).await?;
        }
        Ok(())
    }

    async fn apply(
        &self,
        desired: &State,
        before: &Before,
        held: Option<&Checkpoint>,
        seconds: u32,
    ) -> Result<(), NetworkError> {
        // nmstate makes a checkpoint of its own, and NetworkManager refuses a second one on the
        // same devices. Between the two only the journal protects: a roll back restores profiles
        // from it and needs no checkpoint.
        if let Some(checkpoint) = held {
            self.0.bus.destroy_checkpoint(checkpoint).await?;
        }
        tokio::select! {
            applied = desired.apply_uncommitted(seconds) => applied?,
            lost = foreign::guard(&self.0, &before.foreign) => match lost? {},
        }
        foreign::put_back(&self.0, &before.foreign).await
    }

    async fn apply_profiles(&self, plan: &BridgePlan, bound: Duration) -> Result<(), NetworkError> {
        automatic::apply(&self.0, plan, bound).await
    }

    async fn verify_profiles(
        &self,
        plan: &BridgePlan,
        bound: Duration,
    ) -> Result<(), NetworkError> {
        automatic::verify(&self.0, plan, bound).await
    }

    async fn verify(
        &self,
        desired: &State,
        wants: &Wants,
        before: &Before,
        bound: Duration,
    ) -> Result<(), NetworkError> {
        tokio::select! {
            verified = verify::verify(&self.0, desired, wants, bound) => verified,
            lost = foreign::guard(&self.0, &before.foreign) => match lost? {},
        }
    }

    async fn return_patch_ports(
        &self,
        before: &Before,
        made: &[String],
    ) -> Result<(), NetworkError> {
        if before.bridges.is_empty() {
            return Ok(());
        }
        let mut ovsdb = self.ovsdb().await?;
        bridges::return_patch_ports(&mut ovsdb, &before.bridges, made).await?;
        Ok(bridges::return_ofports(&mut ovsdb, &before.bridges).await?)
    }

    async fn uplinks(&self, wants: &Wants) -> Result<Uplinks, NetworkError> {
        Uplinks::seen(&self.0.netlink, wants, self.0.bus.active().await?).await
    }

    async fn commit(&self, before: &Before) -> Result<(), NetworkError> {
        for checkpoint in self.0.own_checkpoints(before).await? {
            self.0.bus.destroy_checkpoint(&checkpoint).await?;
        }
        Ok(())
    }

    async fn undo_checkpoints(
        &self,
        before: &Before,
        bound: Duration,
    ) -> Result<bool, NetworkError> {
        restore::checkpoints(&self.0, before, bound).await
    }

    async fn reapply_profiles(&self, before: &Before, bound: Duration) -> Result<(), NetworkError> {
        restore::reapply(&self.0, before, bound).await
    }

    async fn reload_profiles(&self, bound: Duration) -> Result<(), NetworkError> {
        restore::profiles(&self.0, bound).await
    }

    async fn undo_bridges(
        &self,
        before: &Before,
        made: &[String],
        bound: Duration,
    ) -> Result<(), NetworkError> {
        restore::bridges(&self.0, before, made, bound).await
    }

    async fn restart(&self, bound: Duration) -> Result<(), NetworkError> {
        restore::restart(&self.0, bound).await
    }

    async fn undo_hostname(&self, before: &Before) -> Result<(), NetworkError> {
        match &before.hostname {
            Some(name) => Ok(identity::put_back(self.0.paths, name)?),
            None => Ok(()),
        }
    }

    async fn restored(&self, before: &Before, bound: Duration) -> Result<(), NetworkError> {
        restore::restored(&self.0, before, bound).await?;
        restore::complete_bridges(&self.0, before).await
    }
}

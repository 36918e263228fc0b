//! The real network: NetworkManager, the kernel, Open vSwitch.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use super::{
    Network, NetworkError, Result, Say, Undone, above, activate, automatic, bridges, captures,
    clients::Clients,
    foreign, held, hung,
    of_others::OfOthers,
    planning, readiness,
    restore::{self, Proof},
    takeover::{self, Leftovers},
    verify::{self, Compared},
};
use crate::{
    bridge::plan::BridgePlan,
    client::{netlink::KeptAddress, ovsdb::Ovsdb},
    document::identity,
    durable::pins::Pins,
    model::{
        Active, Address, Before, Checkpoint, Gateway, Lead, Link, LinkRef, Oversized, ProbeResult,
        Profile, Route, Uplinks, Wants, WayBack,
    },
    paths::Paths,
    probe::{self, Probe},
    settings::{Settings, Wait},
    state::{Macs, Parsed, State},
};

pub(crate) struct RealNetwork<'a> {
    clients: Clients<'a>,
    /// Addresses on the document's interfaces from neither a profile nor a lease, which must stay
    /// (a keepalived VIP). The journal has no more than their names: they are stale after a restart of the agent.
    foreign: RefCell<Vec<KeptAddress>>,
    /// What other programs have on them besides: FRR, OVN-Kubernetes.
    of_others: RefCell<OfOthers>,
    /// Whether NetworkManager's part of the change is in profiles of the agent's own, which have a proof of their own.
    by_profiles: Cell<bool>,
}

impl<'a> RealNetwork<'a> {
    /// Connects to the bus and the kernel; neither NetworkManager nor OVSDB need be there yet.
    pub(crate) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self> {
        let clients = Clients::connect(paths, wait).await?;
        let of_others = RefCell::default();
        let by_profiles = Cell::default();
        Ok(Self { clients, foreign: RefCell::default(), of_others, by_profiles })
    }

    async fn ovsdb(&self) -> Result<Ovsdb> {
        Ok(Ovsdb::connect(&self.clients.paths.ovsdb_socket()).await?)
    }

    /// Restores what other programs had on these links, or on all.
    async fn put_back_of_others(&self, over: Option<&[&str]>) {
        let of_others = self.of_others.borrow().clone();
        of_others.put_back(&self.clients, over).await;
    }

    fn foreign(&self) -> Vec<KeptAddress> {
        self.foreign.borrow().clone()
    }

    /// The plan of the automatic bridge, once its uplink is known.
    pub(crate) async fn plan_bridge(
        &self,
        settings: &Settings,
        earlier: Option<&str>,
        say: Say<'_>,
    ) -> Result<BridgePlan> {
        planning::planned(&self.clients, settings, earlier, say).await
    }

    pub(super) async fn links(&self) -> Result<Vec<Link>> {
        Ok(self.clients.netlink.links().await?)
    }

    /// Keeps addresses of other programs through the undoing of another run's change: those that were there before it, or, where
    /// `is_settled`, as after a confirmed trial, all that are there now.
    pub(crate) async fn keep_addresses_of_others(
        &self,
        before: &Before,
        is_settled: bool,
    ) -> Result {
        let active = self.clients.bus.active().await?;
        let now = self.clients.netlink.kept_addresses().await?;
        let mut foreign = foreign::find(&self.clients, &active, &now).await?;
        foreign.retain(|kept| is_settled || before.others.contains(&kept.address.on));
        *self.foreign.borrow_mut() = foreign;
        Ok(())
    }

    /// NetworkManager's profiles, and which of them is on which device.
    pub(crate) async fn profiles(&self) -> Result<(Vec<Profile>, Vec<Active>)> {
        let bus = &self.clients.bus;
        Ok((bus.connections().await?, bus.active().await?))
    }

    /// The parts of the plan that the node lacks, in words.
    pub(crate) async fn lacking(&self, plan: &BridgePlan) -> Result<Vec<String>> {
        automatic::lacking(&self.clients, plan).await
    }

    /// The devices of those recorded profiles that NetworkManager does not have, or that are not up although their device carries a
    /// default route or is a card below it.
    pub(crate) async fn lost(&self, recorded: &Uplinks) -> Result<Vec<String>> {
        activate::lost(&self.clients, &recorded.profiles, &recorded.cards).await
    }

    /// Activates interfaces of Open vSwitch again whose activation NetworkManager has abandoned, and those of `expected` that are
    /// down although their port is up. Returns their names as soon as there is one.
    pub(crate) async fn release_hung(&self, expected: &[Active]) -> Result<Vec<String>> {
        hung::release(&self.clients, expected).await
    }

    pub(crate) async fn activate(&self, profiles: &[Active], say: Say<'_>) -> Result {
        activate::activate(&self.clients, profiles, say).await
    }

    /// Activates profiles of cards in Open vSwitch that are not up.
    pub(crate) async fn activate_cards_of_bridges(&self, profiles: &[Active]) -> Result {
        activate::cards_of_bridges(&self.clients, profiles).await
    }
}

/// `desired` with the names and addresses of these links.
pub(super) fn resolved_links(desired: State, links: &[Link]) -> State {
    desired.with_links(name_of(links), |name| {
        let wanted = LinkRef::Name(name.to_owned());
        let link = links.iter().find(|link| link.is(&wanted))?;
        Some(Macs { permanent: link.permanent_mac.clone(), present: link.mac.clone() })
    })
}

/// What a document asks for before anything is captured, of links with their names of now.
pub(crate) fn first_wants(parsed: &Parsed, links: &[Link]) -> Wants {
    parsed.first_wants_with(|state| resolved_links(state, links))
}

/// The kernel's names of cards by their MAC or PCI addresses, and of links by their alternative names.
pub(super) fn name_of(links: &[Link]) -> impl Fn(&LinkRef) -> Option<String> {
    move |wanted| {
        let mac = match wanted {
            LinkRef::Mac(mac) => mac,
            LinkRef::Name(name) if links.iter().any(|link| link.name == *name) => return None,
            LinkRef::Name(_) | LinkRef::Pci(_) => {
                let link = links.iter().find(|link| link.is(wanted));
                return link.map(|link| link.name.clone());
            }
        };
        let mut cards = links.iter().filter(|link| link.physical && link.macs().any(|m| m == mac));
        // Ports of a bond have its address and their own permanent ones.
        let permanent = cards.clone().find(|link| link.permanent_mac.as_ref() == Some(mac));
        permanent.or_else(|| cards.next()).map(|link| link.name.clone())
    }
}

impl Network for RealNetwork<'_> {
    async fn released(&self, links: Option<&[String]>, say: Say<'_>) -> Result {
        readiness::network_manager(&self.clients, say).await?;
        held::released(&self.clients, links, say).await
    }

    async fn ready(&self, wants: &Wants, say: Say<'_>) -> Result {
        hung::released(&self.clients, readiness::ready(&self.clients, wants, say)).await
    }

    async fn captured(&self, parsed: &Parsed, say: Say<'_>) -> Result<State> {
        hung::released(&self.clients, captures::captured(&self.clients, parsed, say)).await
    }

    async fn current(&self) -> Result<State> {
        Ok(State::retrieve().await?)
    }

    async fn resolve_links(&self, desired: State) -> Result<State> {
        let links = self.clients.netlink.links().await?;
        Ok(resolved_links(desired, &links))
    }

    async fn snapshot(&self, wants: &Wants, way_back: WayBack) -> Result<Before> {
        let bridges = async {
            let (mut all, settings) = match self.ovsdb().await {
                Ok(mut ovsdb) => {
                    let settings = match wants.ovs_settings.as_slice() {
                        [] => Vec::new(),
                        keys => ovsdb.settings(keys).await?,
                    };
                    (ovsdb.bridges().await?, settings)
                }
                // A document without OVS may still remove bridges of an earlier one.
                Err(error) if !wants.ovs => {
                    tracing::debug!("{error}");
                    (Vec::new(), Vec::new())
                }
                Err(error) => return Err(error),
            };
            // Skip OVN's own bridge, which has a port for each pod.
            all.retain(|bridge| takeover::may_change(bridge, wants));
            Ok::<_, NetworkError>((all, settings))
        };
        let kernel = async {
            let netlink = &self.clients.netlink;
            let links = netlink.links().await?;
            let addresses = netlink.kept_addresses_of(&links).await?;
            let routes = netlink.default_routes_of(&links).await?;
            Ok::<_, NetworkError>((links, addresses, routes))
        };
        let manager = async {
            let bus = &self.clients.bus;
            Ok::<_, NetworkError>(tokio::try_join!(bus.active_and_activated(), bus.checkpoints())?)
        };
        // In parallel: the three sources are independent.
        let (
            (bridges, ovs_settings),
            (links, addresses, routes),
            ((active, activated), checkpoints),
        ) = tokio::try_join!(bridges, kernel, manager)?;
        let of_others = foreign::find(&self.clients, &active, &addresses).await?;
        *self.foreign.borrow_mut() = foreign::of_document(&of_others, wants);
        let besides = OfOthers::of(&self.clients, &links, &wants.links, &wants.bridges).await?;
        *self.of_others.borrow_mut() = besides;
        let addresses: Vec<Address> = addresses.into_iter().map(|kept| kept.address).collect();
        let leading = Lead::addresses(&routes, &addresses);
        let present = addresses.iter().filter(|address| address.is_global());
        let present = present.map(|address| address.on.clone()).collect();
        let (dynamic, fixed): (Vec<_>, Vec<_>) =
            addresses.into_iter().filter(|a| a.is_global()).partition(|a| a.dynamic);
        let leased = |is_ipv4: bool| -> Vec<String> {
            let leases = dynamic.iter().filter(|a| a.on.ip.is_ipv4() == is_ipv4);
            let mut links: Vec<String> = leases.map(|a| a.on.link.clone()).collect();
            links.dedup();
            links
        };
        let (leased, leased_ipv6) = (leased(true), leased(false));
        let has_profile = |link: &Link| active.iter().any(|active| active.device == link.name);
        let with_profile: Vec<Link> = links.into_iter().filter(has_profile).collect();
        let macs = with_profile.iter().filter(|link| link.is_made());
        let macs = macs.filter_map(|link| Some((link.name.clone(), link.mac.clone()?))).collect();
        // A card whose attachment Open vSwitch's database refused, as on a full disk, has no MTU of its profile yet.
        let is_attached = |link: &Link| {
            let mut cards = Active::cards_in_open_vswitch(&active);
            !cards.any(|card| card.device == link.name && !activated.contains(&card.uuid))
        };
        let mtus = with_profile.into_iter().filter(is_attached);
        let mtus = mtus.filter_map(|link| Some((link.name, link.mtu?))).collect();
        let gateway = |route: &Route| Gateway { link: Some(route.link.clone()), ip: route.gateway };
        Ok(Before {
            addresses: fixed.into_iter().map(|a| a.on).collect(),
            others: of_others.into_iter().map(|kept| kept.address.on).collect(),
            leased,
            leased_ipv6,
            routers: routes.iter().filter(|r| r.is_advertised).map(gateway).collect(),
            gateways: routes.iter().map(gateway).collect(),
            leads: Lead::of(&routes),
            leading,
            present,
            active,
            activated,
            mtus,
            macs,
            checkpoints,
            checkpoint_seconds: way_back.checkpoint_seconds,
            ovs_settings,
            bridges,
            reapply: way_back.reapply,
            hostname: if wants.hostname {
                Some(identity::current(self.clients.paths)?.as_str().to_owned())
            } else {
                None
            },
        })
    }

    async fn probe(&self, probes: &[Probe], bound: Duration) -> Vec<ProbeResult> {
        probe::run(probes, bound, self.clients.paths, &self.clients.netlink).await
    }

    async fn leftovers(&self, wants: &Wants, before: &Before) -> Result<Leftovers> {
        if wants.bridges.is_empty() {
            return Ok(Leftovers::default());
        }
        Ok(takeover::find(&self.clients.bus.profiles().await?, &before.bridges, wants))
    }

    async fn checkpoint(&self, seconds: u32) -> Result<Checkpoint> {
        Ok(self.clients.bus.create_checkpoint(seconds).await?)
    }

    async fn take_over(&self, leftovers: &Leftovers) -> Result {
        for profile in &leftovers.profiles {
            tracing::info!(profile = %profile.id, "taking over: removing the profile");
            self.clients.bus.delete_profile(profile).await?;
        }
        if !leftovers.bridges.is_empty() {
            let names: Vec<&str> = leftovers.bridges.iter().map(|b| b.name.as_str()).collect();
            tracing::info!(bridges = ?names, "taking over: removing the bridges");
            bridges::take_over(&mut self.ovsdb().await?, &leftovers.bridges).await?;
        }
        Ok(())
    }

    async fn apply(&self, desired: &State, before: &Before, held: Option<&Checkpoint>) -> Result {
        // nmstate makes a checkpoint of its own, and NetworkManager refuses a second one on the
        // same devices. Between the two only the journal protects: a roll back restores profiles
        // from it and needs no checkpoint.
        if let Some(checkpoint) = held {
            self.clients.bus.destroy_checkpoint(checkpoint).await?;
        }
        let pins = Pins::of(self.clients.paths);
        let foreign = self.foreign();
        tokio::select! {
            applied = desired.apply_uncommitted(before.checkpoint_seconds) => applied?,
            lost = foreign::guard(&self.clients, &foreign) => match lost? {},
        }
        pins.put_back()?;
        foreign::put_back(&self.clients, &foreign).await?;
        activate::ask_again(&self.clients, before, &desired.wants()).await
    }

    async fn apply_profiles(&self, plan: &BridgePlan, bound: Duration) -> Result {
        self.by_profiles.set(true);
        automatic::apply(&self.clients, plan, bound).await
    }

    async fn verify_profiles(&self, plan: &BridgePlan, bound: Duration) -> Result {
        hung::released(&self.clients, automatic::verify(&self.clients, plan, bound)).await
    }

    async fn verify(&self, desired: &State, wants: &Wants, bound: Duration) -> Result {
        let foreign = self.foreign();
        let compared =
            if self.by_profiles.get() { Compared::KernelFirst } else { Compared::Whole(None) };
        let verified = verify::verify(&self.clients, desired, wants, bound, compared);
        tokio::select! {
            verified = hung::released(&self.clients, verified) => verified?,
            lost = foreign::guard(&self.clients, &foreign) => match lost? {},
        }
        // A card that is a port by now has no routes any more.
        let with_ip = wants.addresses.iter().map(|address| address.link.as_str());
        let with_ip = with_ip.chain(wants.dynamic.iter().map(|dynamic| dynamic.link.as_str()));
        let with_ip: Vec<&str> = with_ip.collect();
        self.put_back_of_others(Some(&with_ip)).await;
        Ok(())
    }

    async fn return_patch_ports(&self, before: &Before, made: &[String]) -> Result {
        if before.bridges.is_empty() {
            return Ok(());
        }
        let mut ovsdb = self.ovsdb().await?;
        bridges::return_patch_ports(&mut ovsdb, &before.bridges, made).await?;
        Ok(bridges::return_ofports(&mut ovsdb, &before.bridges).await?)
    }

    async fn activate_above(&self, before: &Before, wants: &Wants) {
        above::activate(&self.clients, before, wants).await;
    }

    async fn uplinks(&self, wants: &Wants) -> Result<Uplinks> {
        Uplinks::seen(&self.clients.netlink, wants, self.clients.bus.active().await?).await
    }

    async fn doubts(&self, before: &Before, wants: &Wants) -> Result<Vec<String>> {
        let netlink = &self.clients.netlink;
        let links = netlink.links().await?;
        let routes = netlink.default_routes_of(&links).await?;
        let leading = Lead::addresses(&routes, &netlink.addresses_of(&links).await?);
        let mut doubts = wants.moved(before, &leading);
        doubts.extend(wants.overtaken(before, &routes));
        doubts.extend(Oversized::of(wants, &links).iter().map(ToString::to_string));
        Ok(doubts)
    }

    async fn commit(&self, before: &Before) -> Result {
        for checkpoint in self.clients.own_checkpoints(before).await? {
            self.clients.bus.destroy_checkpoint(&checkpoint).await?;
        }
        Ok(())
    }

    async fn undo_checkpoints(&self, before: &Before) -> Result<Undone> {
        restore::checkpoints(&self.clients, before).await
    }

    async fn reapply_profiles(&self, before: &Before) -> Result {
        restore::reapply(&self.clients, before).await
    }

    async fn reload_profiles(&self) -> Result {
        restore::profiles(&self.clients).await
    }

    async fn undo_bridges(&self, before: &Before, made: &[String]) -> Result {
        restore::bridges(&self.clients, before, made).await
    }

    async fn restart(&self) -> Result {
        tracing::warn!("the old network does not come back; restarting NetworkManager");
        Ok(self.clients.bus.restart_network_manager().await?)
    }

    async fn undo_hostname(&self, before: &Before) -> Result {
        match &before.hostname {
            Some(name) => Ok(identity::put_back(self.clients.paths, name)?),
            None => Ok(()),
        }
    }

    async fn restored(&self, before: &Before, refused: &[String], bound: Duration) -> Result {
        let proof = Proof { before, foreign: &self.foreign(), is_refused: !refused.is_empty() };
        hung::released(&self.clients, restore::restored(&self.clients, &proof, bound)).await?;
        restore::complete_bridges(&self.clients, before).await?;
        self.put_back_of_others(None).await;
        Ok(())
    }
}

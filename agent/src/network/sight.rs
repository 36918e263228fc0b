//! The network that commands look at and never change: the one of now, or of a node that was collected.

use super::{
    Network as _, Result,
    automatic::Seen,
    real::{RealNetwork, name_of, resolved_links},
};
use crate::{
    bridge::plan::BridgePlan,
    client::netlink::Netlink,
    model::{Active, Link, Profile, facts::Facts},
    paths::Paths,
    settings::Wait,
    state::State,
};

/// The look at a node.
pub(crate) enum Sight<'a> {
    Now(Box<RealNetwork<'a>>),
    Collected(&'a Facts),
}

impl<'a> Sight<'a> {
    /// Connects, unless the node was collected.
    pub(crate) async fn connect(paths: &'a Paths, wait: &'a Wait) -> Result<Self> {
        match paths.collected() {
            Some(facts) => Ok(Self::Collected(facts)),
            None => Ok(Self::Now(Box::new(RealNetwork::connect(paths, wait).await?))),
        }
    }

    /// The kernel's links, which need no NetworkManager.
    pub(crate) async fn links(paths: &Paths) -> Result<Vec<Link>> {
        match paths.collected() {
            Some(facts) => Ok(facts.links.get(KERNEL)?),
            None => Ok(Netlink::connect()?.links().await?),
        }
    }

    /// The current state as nmstate sees it.
    pub(crate) async fn current(&self) -> Result<State> {
        match self {
            Self::Now(network) => network.current().await,
            Self::Collected(facts) => Ok(State::collected(facts.state.get("nmstate")?)?),
        }
    }

    /// NetworkManager's profiles, and which of them is on which device.
    pub(crate) async fn profiles(&self) -> Result<(Vec<Profile>, Vec<Active>)> {
        match self {
            Self::Now(network) => network.profiles().await,
            Self::Collected(facts) => {
                Ok((facts.profiles.get("NetworkManager")?, facts.active.get("NetworkManager")?))
            }
        }
    }

    async fn own_links(&self) -> Result<Vec<Link>> {
        match self {
            Self::Now(network) => network.links().await,
            Self::Collected(facts) => Ok(facts.links.get(KERNEL)?),
        }
    }

    /// `desired` with the names and addresses of the node's links.
    pub(crate) async fn resolve_links(&self, desired: State) -> Result<State> {
        Ok(resolved_links(desired, &self.own_links().await?))
    }

    /// The state of a document in force, with the names that its cards have by now.
    pub(crate) async fn with_names_of_now(&self, in_force: State) -> Result<State> {
        Ok(in_force.with_names_of_now(name_of(&self.own_links().await?)))
    }

    /// The parts of the plan of br-ex that the node lacks, in words.
    pub(crate) async fn lacking(&self, plan: &BridgePlan) -> Result<Vec<String>> {
        match self {
            Self::Now(network) => network.lacking(plan).await,
            Self::Collected(facts) => {
                let seen = Seen {
                    activated: facts.activated.get("NetworkManager")?,
                    addresses: facts.addresses.get(KERNEL)?,
                    routes: facts.default_routes.get(KERNEL)?,
                    bridges: facts.bridges.get("Open vSwitch")?.unwrap_or_default(),
                };
                Ok(seen.lacking(plan))
            }
        }
    }
}

const KERNEL: &str = "the kernel";

//! Families that come from the network, each at its own time: NetworkManager says "activated" when one of them is there.

use super::{inputs::Inputs, uplink::Uplink};
use crate::model::{Address, Family, Scope};

/// The family that the uplink may get in a moment, beside the one that it has. Planned without its address, br-ex would do
/// without it for good. IPv4 may answer wherever it is asked for; IPv6, which most profiles ask for, only once a router
/// has spoken.
pub(crate) fn awaited(inputs: &Inputs, uplink: &Uplink) -> Option<Family> {
    if uplink.below.is_some() {
        return None;
    }
    let is_its = |active: &&crate::model::Active| {
        active.device == uplink.link && !active.kind.starts_with("ovs-")
    };
    let profile =
        inputs.active.iter().find(is_its).and_then(|active| inputs.profile(&active.uuid))?;
    let on = || {
        inputs
            .addresses
            .iter()
            .filter(|address| address.on.link == uplink.link && address.scope != Scope::Link)
    };
    let is_of = |address: &&Address, family| Family::of(address.on.ip) == family;
    let has = |family| on().any(|address| is_of(&address, family) && !address.tentative);
    let has_spoken = on().any(|address| is_of(&address, Family::Ipv6))
        || inputs
            .default_routes
            .iter()
            .any(|route| route.link == uplink.link && route.family == Family::Ipv6);
    Family::ALL.into_iter().find(|family| {
        let may_come = match family {
            Family::Ipv4 => has(Family::Ipv6),
            Family::Ipv6 => has(Family::Ipv4) && has_spoken,
        };
        may_come && !has(*family) && profile.is_dynamic(*family)
    })
}

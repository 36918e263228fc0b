//! The profiles of one automatic bridge, with the ids and properties of configure-ovs.sh.
//! `doc/bridge.md` lists the differences, each with its reason.

mod ip;
mod local;
mod ovs;
mod planned;
mod ports;
mod uplink;

pub(super) use self::uplink::{is_carried, own, parent_name};
use super::{
    error::Result, inputs::Inputs, names::BridgeNames, plan::PlannedProfile, source::Source,
};

/// All profiles of a bridge, controllers before their ports.
pub(super) fn of_bridge(
    inputs: &Inputs,
    bridge: BridgeNames,
    source: Source<'_>,
) -> Result<Vec<PlannedProfile>> {
    let mut profiles = vec![
        ovs::bridge(bridge, source.link.mtu(), inputs.datapath_type.as_deref()),
        ovs::uplink_port(bridge, &source.link.name),
        ovs::local_port(bridge),
        uplink::uplink(inputs, bridge, source)?,
    ];
    profiles.extend(ports::copies(inputs, bridge, source));
    profiles.push(local::local(inputs, bridge, source));
    Ok(profiles)
}

//! From inputs to the plan.

use super::{
    document,
    error::{BridgeError, Result},
    inputs::Inputs,
    losses::losses,
    names::{BR_EX, BR_EX1, BridgeNames},
    plan::{Activation, BridgePlan, Hint, PlannedProfile, Role},
    profiles::{of_bridge, own},
    removal::removal,
    source::{self, Source},
    uplink::{DEFAULT_BRIDGE, EXTRA_BRIDGE, Uplink, hint, kept_uplink},
};

/// The driver that drops multicast unless the link takes all of it.
const VMXNET3: &str = "vmxnet3";

/// Plans br-ex on the chosen uplink, and br-ex1 on that of `/etc/ovnk/extra_bridge`.
pub(crate) fn plan(inputs: &Inputs, uplink: Uplink) -> Result<BridgePlan> {
    let extra = extra(inputs, &uplink)?;
    let mut sources = vec![(BR_EX, source::find(inputs, &uplink.link, BR_EX, DEFAULT_BRIDGE)?)];
    if let Some(extra) = extra {
        sources.push((BR_EX1, source::find(inputs, extra, BR_EX1, EXTRA_BRIDGE)?));
    }
    let mut profiles = Vec::new();
    for (bridge, source) in &sources {
        profiles.extend(of_bridge(inputs, *bridge, *source)?);
    }
    Ok(BridgePlan {
        extra: extra.map(str::to_owned),
        document: document::document(inputs, &uplink, &profiles),
        order: order(inputs, &sources, &profiles),
        remove: removal(inputs, &profiles),
        own: sources.first().and_then(|(_, source)| own(*source)),
        hint: hint_after(inputs, &uplink),
        allmulticast: sources
            .iter()
            .filter(|(_, source)| {
                inputs.drivers.get(&source.link.name).is_some_and(|driver| driver == VMXNET3)
            })
            .map(|(_, source)| source.link.name.clone())
            .collect(),
        losses: sources.iter().flat_map(|(_, source)| losses(inputs, *source)).collect(),
        uplink,
        profiles,
    })
}

/// The uplink of br-ex1.
fn extra<'a>(inputs: &'a Inputs, uplink: &Uplink) -> Result<Option<&'a str>> {
    let Some(extra) = inputs.files.extra_bridge.as_deref() else { return Ok(None) };
    let link = || extra.to_owned();
    if extra.is_empty() {
        return Err(BridgeError::EmptyExtraBridge);
    }
    if extra == uplink.link {
        return Err(BridgeError::ExtraIsUplink { link: link() });
    }
    if [BR_EX.bridge, BR_EX1.bridge].contains(&extra) {
        return Err(BridgeError::NamesBridge { file: EXTRA_BRIDGE, link: link() });
    }
    Ok(Some(extra))
}

/// Bridges with their uplinks, then the ports of the uplinks, then the local interfaces: each needs
/// the one before.
fn order(
    inputs: &Inputs,
    sources: &[(BridgeNames, Source<'_>)],
    profiles: &[PlannedProfile],
) -> Vec<Activation> {
    let of = |id: String| profiles.iter().find(|profile| profile.id == id);
    let bridges =
        sources.iter().flat_map(|(names, _)| [of(names.bridge_id()), of(names.physical_id())]);
    let ports =
        profiles.iter().filter(|profile| matches!(profile.role, Role::Port { .. })).map(Some);
    let locals = sources.iter().map(|(names, _)| of(names.local_id()));
    let all = bridges.chain(ports).chain(locals).flatten();
    let activation = |profile: &PlannedProfile| {
        let device = profile.interface_name().to_owned();
        let is_port = matches!(profile.role, Role::Port { .. });
        let controller = profile.settings.text("connection", "master").map(str::to_owned);
        let link = inputs.link(&device);
        let settle_lacp =
            is_port && link.is_some_and(|link| link.has_carrier && link.lacp.is_some());
        let (uuid, id) = (profile.uuid.clone(), profile.id.clone());
        Activation { uuid, id, port_of: controller.filter(|_| is_port), settle_lacp, device }
    };
    all.map(activation).collect()
}

/// As configure-ovs.sh leaves it: written by a choice among default routes alone; the uplink of a
/// profile that was kept is remembered, that of br-ex1 forgotten.
fn hint_after(inputs: &Inputs, uplink: &Uplink) -> Hint {
    let file = inputs.files.hint.as_deref();
    let is_by_route = uplink.reason.is_by_route();
    let wanted = if is_by_route && uplink.below.is_none() {
        Some(uplink.link.as_str())
    } else {
        hint(inputs)
    };
    let is_extra = |name: &str| inputs.files.extra_bridge.as_deref() == Some(name);
    match wanted {
        Some(wanted) if file == Some(wanted) => Hint::Keep,
        Some(wanted) => Hint::Write(wanted.to_owned()),
        None if file.or_else(|| kept_uplink(inputs)).is_some_and(is_extra) => Hint::Remove,
        None => Hint::Keep,
    }
}

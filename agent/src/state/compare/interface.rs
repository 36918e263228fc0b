//! Differences of an interface that nmstate's verification tolerates.

use nmstate::{Interface, InterfaceType, NetworkState};
use serde_json::{Value, json};

use super::value;

/// Flags of a tunnel that the kernel sets by itself.
const READ_ONLY_FLAGS: [&str; 3] = ["cap-xmit", "cap-rcv", "cap-per-packet"];
/// IEEE 802.1Q.
const MAX_VLAN: u64 = 4094;

/// The part of `candidate`, a difference by `gen_diff()`, that also fails the verification.
pub(super) fn lacking(
    candidate: &Interface,
    desired: &NetworkState,
    current: &NetworkState,
) -> Result<Option<Interface>, serde_json::Error> {
    let (name, kind) = (candidate.name(), candidate.iface_type());
    let is_gone = candidate.is_absent() || (candidate.is_virtual() && candidate.is_down());
    let Some(have) = current.interfaces.get_iface(name, kind.clone()) else {
        return Ok(candidate.is_up().then(|| candidate.clone()));
    };
    if is_gone {
        // A physical NIC cannot be removed.
        return Ok(have.is_virtual().then(|| candidate.clone()));
    }
    if !candidate.is_up() {
        return Ok(None);
    }
    let declared = desired.interfaces.get_iface(name, kind);
    let declared = declared
        .or_else(|| desired.interfaces.get_iface(name, InterfaceType::Unknown))
        .unwrap_or(candidate);
    let mut want = serde_json::to_value(sanitize_wanted(candidate.clone(), declared))?;
    let mut stated = serde_json::to_value(declared)?;
    add_other_names(&mut stated, &want);
    value::only_declared(&mut want, &stated);
    // An adopted profile has a name of its own, and the document's name is one of the card's.
    let others = have.base_iface().alt_names.iter().flatten();
    let is_other = |name: &Value| others.clone().any(|other| *name == *other.name);
    if is_other(&want["profile-name"]) {
        want["profile-name"].take();
    }
    let mut have = serde_json::to_value(have)?;
    fill_in_defaults(&mut have);
    let said = declared.base_iface();
    let v4 = said.ipv4.as_ref().and_then(|ip| ip.addresses.as_ref());
    let v6 = said.ipv6.as_ref().and_then(|ip| ip.addresses.as_ref());
    tolerate_addresses(&mut want["ipv4"], &mut have["ipv4"], v4.is_some());
    tolerate_addresses(&mut want["ipv6"], &mut have["ipv6"], v6.is_some());
    if v4.is_some_and(Vec::is_empty) {
        // Without addresses the routes decide whether IPv4 is enabled.
        want["ipv4"]["enabled"].take();
    }
    tolerate_alternative_names(&mut want["alt-names"], &mut have["alt-names"]);
    tolerate_options(candidate, &mut want, &mut have);
    let Value::Object(want) = want else { return Ok(None) };
    // Keep whole keys: nmstate cannot parse a partial VLAN.
    let mut left: serde_json::Map<String, Value> = want
        .into_iter()
        .filter(|(key, want)| {
            !["name", "type"].contains(&key.as_str()) && !value::holds(want, &have[key.as_str()])
        })
        .collect();
    if left.is_empty() {
        return Ok(None);
    }
    let mut whole = serde_json::to_value(candidate)?;
    if let Value::Object(whole) = &mut whole {
        let keys = ["name", "type", "state"];
        whole.retain(|key, _| keys.contains(&key.as_str()) || left.remove(key).is_some());
    }
    serde_json::from_value(whole).map(Some)
}

/// Adds the names that nmstate has for keys which the document calls otherwise: ethtool's features, and a bridge's
/// `group-forward-mask`.
fn add_other_names(stated: &mut Value, want: &Value) {
    if let Some(features) = stated.pointer_mut("/ethtool/feature").filter(|value| value.is_object())
    {
        features.clone_from(&want["ethtool"]["feature"]);
    }
    if let Some(Value::Object(options)) = stated.pointer_mut("/bridge/options")
        && let Some(mask) = options.get("group-forward-mask").cloned()
    {
        options.insert("group-fwd-mask".to_owned(), mask);
    }
}

/// Removes keys that only control how to apply or compare.
fn sanitize_wanted(mut want: Interface, declared: &Interface) -> Interface {
    if want.allow_extra_ports() == Some(true) {
        want.set_allow_extra_ports(None);
    }
    let base = want.base_iface_mut();
    if base.profile_name.as_ref() == Some(&base.name) {
        // nmstate does not return the name when it reads the profile.
        base.profile_name = None;
    }
    if let Some(ipv4) = base.ipv4.as_mut() {
        let is_default =
            |metric: &Option<i64>| *metric == Some(nmstate::RouteEntry::USE_DEFAULT_METRIC);
        if is_default(&ipv4.auto_route_metric) {
            ipv4.auto_route_metric = None;
        }
        if is_default(&ipv4.prefix_route_metric) {
            ipv4.prefix_route_metric = None;
        }
    }
    #[allow(clippy::wildcard_enum_match_arm, reason = "non-exhaustive upstream")]
    match &mut want {
        Interface::Ethernet(card) => {
            let Some(settings) = card.ethernet.as_mut() else { return want };
            if matches!(declared, Interface::Ethernet(d) if d.ethernet.as_ref().and_then(|e| e.auto_neg) == Some(true))
            {
                (settings.speed, settings.duplex) = (None, None);
            }
            if let Some(sr_iov) = settings.sr_iov.as_mut() {
                // Remove read-only keys, and an empty list of functions.
                sr_iov.max_vfs = None;
                sr_iov.vfs = sr_iov.vfs.take().filter(|vfs| !vfs.is_empty());
                for vf in sr_iov.vfs.iter_mut().flatten() {
                    vf.iface_name.clear();
                }
            }
        }
        Interface::OvsBridge(bridge) => {
            if let Some(bridge) = bridge.bridge.as_mut()
                && bridge.allow_extra_patch_ports == Some(true)
            {
                bridge.allow_extra_patch_ports = None;
            }
        }
        Interface::Hsr(hsr) => {
            if let Some(hsr) = hsr.hsr.as_mut() {
                hsr.supervision_address = None;
            }
        }
        _ => {}
    }
    want
}

/// Adds the defaults that nmstate omits when off or empty.
fn fill_in_defaults(have: &mut Value) {
    let kind = have["type"].clone();
    let maps = || json!({"external_ids": {}, "other_config": {}});
    value::default(have, "controller", json!(""));
    value::default(have, "mptcp", json!({}));
    value::default(&mut have["mptcp"], "address-flags", json!([]));
    value::default(have, "ovs-db", maps());
    value::default(have, "dispatch", json!({}));
    for script in ["post-activation", "post-deactivation"] {
        value::default(&mut have["dispatch"], script, json!(""));
    }
    let (has_v4, has_v6) = (have["ipv4"].is_object(), have["ipv6"]["enabled"] == json!(true));
    for (key, is_on) in [("ipv4", has_v4), ("ipv6", has_v6)] {
        let family = &mut have[key];
        value::default(family, "dhcp-custom-hostname", json!(""));
        value::default(family, "token", json!("::"));
        if is_on {
            value::default(family, "address", json!([]));
            value::default(family, "dhcp", json!(false));
            value::default(family, "autoconf", json!(false));
        }
    }
    for port in have["bridge"]["port"].as_array_mut().into_iter().flatten() {
        value::default(port, "vlan", json!({}));
        if kind == InterfaceType::LinuxBridge.to_string() {
            single_vlans(port);
        }
        if port["link-aggregation"].is_object() {
            value::default(&mut port["link-aggregation"], "ovs-db", maps());
        }
    }
}

/// VLANs of a trunk, each by itself: so nmstate applies those of a Linux bridge. The kernel's state has ranges.
fn single_vlans(port: &mut Value) {
    let Some(Value::Array(tags)) = port.pointer_mut("/vlan/trunk-tags") else { return };
    let single = |tag: Value| match (&tag["id-range"]["min"], &tag["id-range"]["max"]) {
        (Value::Number(min), Value::Number(max)) => {
            let ends = (min.as_u64().unwrap_or_default(), max.as_u64().unwrap_or_default());
            (ends.0..=ends.1.min(MAX_VLAN)).map(|id| json!({"id": id})).collect()
        }
        _ => vec![tag],
    };
    *tags = std::mem::take(tags).into_iter().flat_map(single).collect();
}

/// Unlisted addresses belong to other programs (keepalived), unless the document sets
/// `allow-extra-address: false`.
fn tolerate_addresses(want: &mut Value, have: &mut Value, is_declared: bool) {
    let place = |address: &Value| (address["ip"].clone(), address["prefix-length"].clone());
    let allows_others = want["allow-extra-address"] != json!(false);
    if is_declared {
        want["allow-extra-address"].take();
    }
    // As often as a document has an address, an interface has it once.
    if let Some(list) = want["address"].as_array_mut() {
        let mut seen = Vec::new();
        list.retain(|address| {
            let is_new = !seen.contains(&place(address));
            seen.push(place(address));
            is_new
        });
    }
    let wanted: Option<Vec<_>> =
        want["address"].as_array().map(|list| list.iter().map(place).collect());
    if let (Some(wanted), Some(list)) = (wanted, have["address"].as_array_mut()) {
        list.retain(|address| !allows_others || wanted.contains(&place(address)));
    }
}

/// Names given by other programs are no difference; an absent name matches a missing one.
fn tolerate_alternative_names(want: &mut Value, have: &mut Value) {
    let Some(names) = want.as_array_mut() else { return };
    let has = |name: &Value| {
        have.as_array().is_some_and(|list| list.iter().any(|entry| entry["name"] == *name))
    };
    names.retain(|entry| has(&entry["name"]) == (entry["state"] == json!("absent")));
    if names.is_empty() {
        want.take();
    }
}

/// The kernel may reject bond options; some tunnel flags are read-only.
fn tolerate_options(iface: &Interface, want: &mut Value, have: &mut Value) {
    if matches!(iface, Interface::Bond(_)) {
        want["link-aggregation"]["options"].take();
    }
    if matches!(iface, Interface::IpTunnel(_)) {
        let is_fixed = |flag: &Value| READ_ONLY_FLAGS.iter().any(|fixed| flag == fixed);
        for tunnel in [want, have] {
            if let Some(flags) = tunnel["ip-tunnel"]["ip6tun-flags"].as_array_mut() {
                flags.retain(|flag| !is_fixed(flag));
            }
        }
    }
}

//! The document of the running node: what NetworkManager's profiles configure, in the words and values of nmstate's current state.
//! nmstate tells what is; a profile tells which of it somebody wanted. Pure.

mod configured;
mod interface;
mod left_out;
mod page;
mod routes;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use self::{configured::Configured, interface::keys, left_out::LeftOut};
pub(crate) use self::{
    configured::needs_ovs,
    page::{Exported, manifest, page},
};
use crate::{
    bridge::{drop_empty, some},
    model::{Active, Profile},
};

/// The document of the node with this state of nmstate's, secrets included, and these profiles, of which those are active.
pub(crate) fn export(state: &Value, profiles: &[Profile], active: &[Active]) -> Exported {
    let configured = Configured::new(profiles, active);
    let mut left_out = LeftOut::default();
    left_out.add(["the host name".to_owned()], "the system has it without NetworkManager");
    let all = state["interfaces"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut interfaces = Vec::new();
    let mut unconfigured = Vec::new();
    for interface in all {
        match configured.of(interface).filter(|_| interface["state"] == "up") {
            Some(profile) => {
                interfaces.push(interface::exported(
                    interface,
                    profile,
                    &configured,
                    &mut left_out,
                ));
            }
            None => unconfigured.extend(interface["name"].as_str().map(str::to_owned)),
        }
    }
    left_out.add(unconfigured, "interfaces without a profile of NetworkManager");
    let dns = state["dns-resolver"]["config"].as_object().cloned().unwrap_or_default();
    let is_list = |value: &Value| value.as_array().is_some_and(|array| !array.is_empty());
    let dns: Map<String, Value> = dns.into_iter().filter(|(_, value)| is_list(value)).collect();
    let routes = some(routes::routes(state, &configured, &mut left_out));
    let rules = some(routes::rules(state, &configured, &mut left_out));
    let mappings = some(mappings(state, &mut left_out));
    let mut document = json!({
        "interfaces": interfaces,
        "dns-resolver": {"config": dns},
        "routes": {"config": routes},
        "route-rules": {"config": rules},
        "ovn": {"bridge-mappings": mappings},
    });
    drop_empty(&mut document);
    left_out
        .add(keys(&state["ovs-db"]), "Open vSwitch's own table, where OVN and the system write");
    Exported { document, left_out }
}

/// The mappings of localnets that somebody wanted.
fn mappings(state: &Value, left_out: &mut LeftOut) -> Vec<Value> {
    /// OVN-Kubernetes maps it to br-ex by itself.
    const OWN: &str = "physnet";
    let all = state["ovn"]["bridge-mappings"].as_array().cloned().unwrap_or_default();
    let (own, wanted): (Vec<Value>, _) =
        all.into_iter().partition(|value| value["localnet"] == OWN);
    let own =
        own.iter().map(|mapping| format!("{OWN} of {}", mapping["bridge"].as_str().unwrap_or("?")));
    left_out.add(own, "OVN-Kubernetes maps it by itself");
    wanted
}

//! The derived document beside a written one of the same host.

use nmgen_core::difference::fields;
use nmgen_core::interface::{self, is_up, kind};
use nmgen_core::source::Host;
use nmgen_core::stack;
use nmgen_document::{Document, Entry, Node, Path, Value};

use super::derived::derived;
use super::normal::normal;
use super::patched::Patched;
use super::wanted::{BR_EX, BR_EX1, Choice, METRICS, Request};
use crate::source::Cluster;

const OVS: &str = "ovs-interface";
const EXTRA: &str = "allow-extra-patch-ports";

/// The host's early document as derived with the written document's uplink; `None` if the written
/// one has no br-ex with one uplink, or if nothing can be derived.
pub(crate) fn counterpart(
    early: &Host,
    written: &Document<'_>,
    cluster: &Cluster,
) -> Option<Document<'static>> {
    let document = early.document()?;
    let port = uplink(&written.root, BR_EX)?;
    let patched = Patched::of(&written.root, port);
    let interface = match &patched {
        Some(patched) => patched.uplink(&document.root)?,
        None => port,
    };
    let second = uplink(&written.root, BR_EX1);
    let choice = |name: &str| vec![Choice { host: None, interface: name.to_owned() }];
    let request = Request {
        uplinks: choice(interface),
        second: second.map(choice).unwrap_or_default(),
        balance_slb: patched.map(|patched| patched.names),
    };
    derived(early, document, cluster, &request).ok()
}

/// The differences of a written document from what br-ex makes of the early one; `None` if that cannot be told. A value that
/// only the derivation adds is no difference: people leave it out.
pub(crate) fn differences(
    early: &Host,
    written: &Document<'static>,
    cluster: &Cluster,
) -> Option<Vec<String>> {
    let mut derived = normal(&counterpart(early, written, cluster)?.root);
    let written = normal(&written.root);
    without_additions(&mut derived, &written);
    Some(fields(&derived, &written).iter().map(ToString::to_string).collect())
}

/// Removes the bridges' route metrics and sources of MAC addresses that the written document does not have. Open vSwitch gives a
/// bridge the MAC address of its uplink anyway. Nor need the written document name what goes, or allow patch ports.
fn without_additions(derived: &mut Node<'static>, written: &Node<'static>) {
    let written_interfaces = interface::all(written);
    let interfaces = derived.find_mut(&Path::default().key("interfaces"));
    if let Some(Node { value: Value::Sequence(own), .. }) = interfaces {
        let is_written = |own: &Node<'_>| {
            written_interfaces.iter().any(|interface| is_same(interface, own) && !is_up(interface))
        };
        own.retain(|own| is_up(own) || is_written(own));
        for bridge in own.iter_mut().filter(|own| kind(own) == "ovs-bridge") {
            let other = written_interfaces.iter().find(|interface| is_same(interface, bridge));
            if other.is_some_and(|other| other.at(&["bridge", EXTRA]).is_none())
                && let Some(ports) = bridge.find_mut(&Path::default().key("bridge"))
            {
                drop_entry(ports, |entry| entry.key == EXTRA);
            }
        }
    }
    let of = |root: &Node<'_>, name: &str| {
        let interfaces = interface::all(root);
        interfaces
            .iter()
            .position(|interface| interface.text_at("name") == Some(name) && kind(interface) == OVS)
    };
    for (name, metric) in METRICS {
        let (Some(own), Some(other)) = (of(derived, name), of(written, name)) else { continue };
        let interfaces = Path::default().key("interfaces");
        let Some(other) = written.find(&interfaces.index(other)) else { continue };
        if let Some(own) = derived.find_mut(&interfaces.index(own)) {
            if other.get("mac-address").is_none() && other.get("copy-mac-from").is_none() {
                drop_entry(own, |entry| matches!(&*entry.key, "mac-address" | "copy-mac-from"));
            }
            for family in ["ipv4", "ipv6"] {
                let has_one = other.at(&[family, "auto-route-metric"]).is_some();
                if let Some(own) = own.find_mut(&Path::default().key(family)).filter(|_| !has_one) {
                    drop_entry(own, |entry| is_metric(entry, "auto-route-metric", metric));
                }
            }
        }
        let has_metric = |route: &Node<'_>| {
            route.text_at("next-hop-interface") == Some(name) && route.get("metric").is_some()
        };
        if written.items_at(&["routes", "config"]).iter().any(has_metric) {
            continue;
        }
        for route in derived.items_mut_at(&["routes", "config"]) {
            if route.text_at("next-hop-interface") == Some(name) {
                drop_entry(route, |entry| is_metric(entry, "metric", metric));
            }
        }
    }
}

fn is_metric(entry: &Entry<'_>, key: &str, metric: u32) -> bool {
    entry.key == key && entry.node.number() == Some(metric.into())
}

fn drop_entry(node: &mut Node<'static>, is_it: impl Fn(&Entry<'_>) -> bool) {
    if let Value::Mapping(entries) = &mut node.value {
        entries.retain(|entry| !is_it(entry));
    }
}

fn is_same(one: &Node<'_>, other: &Node<'_>) -> bool {
    one.text_at("name") == other.text_at("name") && kind(one) == kind(other)
}

/// The bridge's only port beside its own interface.
fn uplink<'n>(root: &'n Node<'_>, bridge: &str) -> Option<&'n str> {
    let ports = stack::bridge_port_names(interface::ovs_bridge(root, bridge)?);
    match ports.into_iter().filter(|port| *port != bridge).collect::<Vec<_>>()[..] {
        [only] => Some(only),
        _ => None,
    }
}

//! References between interfaces: ports of controllers, base interfaces, peers. Serves the checks and
//! `show`; it reads names only and judges nothing.

use std::collections::HashSet;

use crate::interface;
use nmgen_document::{Node, Path, Step};

/// One interface's reference to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its relation.
    pub role: Relation,
    /// From the referring interface to the name.
    pub steps: Vec<Step>,
}

/// The relation of the other interface to the referring one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// A port of a bond, bridge, VRF or HSR.
    Port,
    /// The base of a VLAN, VXLAN, MAC VLAN, MACsec, IPVLAN or InfiniBand child.
    Base,
}

impl Reference<'_> {
    /// The path of the name, given the path of the referring interface.
    pub fn path(&self, interface: &Path) -> Path {
        self.steps.iter().fold(interface.clone(), |path, step| path.join(step.clone()))
    }
}

/// The sections with a base interface, as NMState names them.
const WITH_BASE: &str = "vlan vxlan mac-vlan mac-vtap macsec ipvlan infiniband ip-tunnel xfrm";

/// The keys of a bond's ports; two lists, if present, have the same names.
const BOND_PORTS: &[&str] = &["port", "ports", "ports-config"];

/// True for the types that have ports.
pub fn is_controller(kind: &str) -> bool {
    matches!(kind, "bond" | "linux-bridge" | "ovs-bridge" | "vrf" | "hsr")
}

/// Every interface that this one refers to, in the document's order.
pub fn below<'a>(interface: &'a Node<'_>) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    for section in ["link-aggregation", "bond"] {
        listed(interface, section, BOND_PORTS, &mut found);
    }
    listed(interface, "vrf", &["port", "ports"], &mut found);
    bridge_ports(interface, &mut found);
    for key in ["port1", "port2"] {
        named(interface, &["hsr", key], Relation::Port, &mut found);
    }
    for section in WITH_BASE.split(' ') {
        named(interface, &[section, "base-iface"], Relation::Base, &mut found);
    }
    found
}

/// The names of interfaces that the document only refers to, where they stand: an interface that is to be up has them
/// as a port or as its base, and none has them as a name of its own. Each is told once.
pub fn undeclared<'n, 't>(root: &'n Node<'t>) -> Vec<&'n Node<'t>> {
    let interfaces = interface::all(root);
    let mut known: HashSet<&str> = interfaces.iter().flat_map(names).collect();
    let up = interfaces.iter().filter(|interface| interface::is_up(interface));
    let referred = up.flat_map(|interface| {
        let references = below(interface).into_iter();
        references.filter_map(|reference| interface.find(&reference.path(&Path::default())))
    });
    referred.filter(|node| node.text().is_some_and(|name| known.insert(name))).collect()
}

/// The names by which nmstate finds an interface.
fn names<'n>(interface: &'n Node<'_>) -> impl Iterator<Item = &'n str> {
    let others = interface.items_at(&["alt-names"]).iter();
    let own = ["name", "profile-name"].into_iter().filter_map(|key| interface.text_at(key));
    own.chain(others.filter_map(|other| other.text_at("name")))
}

/// The names of a bridge's ports in its list, including the bonds that an OVS bridge creates.
pub fn bridge_port_names<'a>(interface: &'a Node<'_>) -> Vec<&'a str> {
    interface::ports(interface).iter().filter_map(|port| port.text_at("name")).collect()
}

fn bridge_ports<'a>(interface: &'a Node<'_>, found: &mut Vec<Reference<'a>>) {
    for key in ["port", "ports"] {
        let Some(list) = interface.at(&["bridge", key]) else { continue };
        for (index, port) in list.items().iter().enumerate() {
            let steps = [Step::Key("bridge".into()), Step::Key(key.into()), Step::Index(index)];
            // An OVS bond is a port that the bridge creates from other interfaces.
            let bond_ports = ["link-aggregation", "bond"].into_iter().find_map(|section| {
                let bond = port.get(section)?;
                let key = BOND_PORTS.iter().find(|key| bond.get(key).is_some())?;
                Some((section, *key, bond.get(key)?))
            });
            match bond_ports {
                None => {
                    let Some(name) = port.text_at("name") else { continue };
                    let steps = steps.into_iter().chain([Step::Key("name".into())]).collect();
                    found.push(Reference { name, role: Relation::Port, steps });
                }
                Some((section, key, ports)) => {
                    let steps =
                        steps.into_iter().chain([Step::Key(section.into()), Step::Key(key.into())]);
                    items(ports, &steps.collect::<Vec<_>>(), found);
                }
            }
        }
    }
}

fn listed<'a>(
    interface: &'a Node<'_>,
    section: &str,
    keys: &[&str],
    found: &mut Vec<Reference<'a>>,
) {
    let Some(node) = interface.get(section) else { return };
    if let Some((key, list)) = keys.iter().find_map(|key| Some((key, node.get(key)?))) {
        items(list, &[Step::Key(section.into()), Step::Key((*key).into())], found);
    }
}

/// Items are names, or mappings with a name.
fn items<'a>(list: &'a Node<'_>, steps: &[Step], found: &mut Vec<Reference<'a>>) {
    for (index, item) in list.items().iter().enumerate() {
        let at = |last: Option<&str>| {
            let last = last.map(|key| Step::Key(key.into()));
            steps.iter().cloned().chain([Step::Index(index)]).chain(last).collect()
        };
        if let Some(name) = item.text() {
            found.push(Reference { name, role: Relation::Port, steps: at(None) });
        } else if let Some(name) = item.text_at("name") {
            found.push(Reference { name, role: Relation::Port, steps: at(Some("name")) });
        }
    }
}

fn named<'a>(
    interface: &'a Node<'_>,
    keys: &[&str],
    role: Relation,
    found: &mut Vec<Reference<'a>>,
) {
    if let Some(name) = interface.at(keys).and_then(Node::text) {
        let steps = keys.iter().map(|key| Step::Key((*key).into())).collect();
        found.push(Reference { name, role, steps });
    }
}

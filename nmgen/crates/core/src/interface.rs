//! Interfaces of a document as its text states them: state, type, ports of a bridge. It judges nothing.

use nmgen_document::Node;

/// The names of the desired state in nmstate's policies.
pub(crate) const DESIRED: [&str; 2] = ["desired", "desiredState"];

/// The state that a document asks for: the desired one of a NetworkPolicy, else the document itself.
pub fn state<'n, 't>(root: &'n Node<'t>) -> &'n Node<'t> {
    DESIRED.into_iter().find_map(|key| root.get(key)).unwrap_or(root)
}

/// The items of `interfaces`; none where the key is missing or no list.
pub fn all<'n, 't>(root: &'n Node<'t>) -> &'n [Node<'t>] {
    state(root).items_at(&["interfaces"])
}

/// True for an interface that is to be up, as one without a state.
pub fn is_up(interface: &Node<'_>) -> bool {
    matches!(interface.text_at("state"), None | Some("up"))
}

/// NMState's name of the type; `unknown` if missing.
pub fn kind<'n>(interface: &'n Node<'_>) -> &'n str {
    interface.text_at("type").unwrap_or("unknown")
}

/// The bridge of Open vSwitch with this name, if it is to be up.
pub fn ovs_bridge<'n, 't>(root: &'n Node<'t>, name: &str) -> Option<&'n Node<'t>> {
    all(root).iter().find(|node| {
        node.text_at("name") == Some(name) && kind(node) == "ovs-bridge" && is_up(node)
    })
}

/// The ports of a bridge, with the bonds that a bridge of Open vSwitch makes itself.
pub fn ports<'n, 't>(bridge: &'n Node<'t>) -> &'n [Node<'t>] {
    let list = ["port", "ports"].into_iter().find_map(|key| bridge.at(&["bridge", key]));
    list.map(Node::items).unwrap_or_default()
}

/// The bond that a port of an Open vSwitch bridge is, under either of nmstate's names.
pub fn ovs_bond<'n, 't>(port: &'n Node<'t>) -> Option<&'n Node<'t>> {
    port.get("link-aggregation").or_else(|| port.get("bond"))
}

//! The derived document beside a written one of the same host.

use super::derived::derived;
use super::interfaces::{is_up, kind};
use super::wanted::{BR_EX, BR_EX1, Choice, Request};
use crate::document::{Document, Node};
use crate::source::{Cluster, Host};
use crate::stack;

/// What the host's early document becomes with the written document's uplink; `None` if the written
/// one has no br-ex with one uplink, or if nothing can be derived.
pub(crate) fn counterpart(
    early: &Host,
    written: &Document<'_>,
    cluster: &Cluster,
) -> Option<Document<'static>> {
    let document = early.document.as_ref()?;
    let interface = uplink(&written.root, BR_EX)?.to_owned();
    let second = uplink(&written.root, BR_EX1);
    let choice = |name: &str| vec![Choice { host: None, interface: name.to_owned() }];
    let request =
        Request { uplinks: choice(&interface), second: second.map(choice).unwrap_or_default() };
    derived(early, document, cluster, &request).ok()
}

/// The bridge's only port beside its own interface.
fn uplink<'n>(root: &'n Node<'_>, bridge: &str) -> Option<&'n str> {
    let interfaces = root.get("interfaces").map(Node::items)?;
    let is_it = |node: &&Node<'_>| {
        node.text_at("name") == Some(bridge) && kind(node) == "ovs-bridge" && is_up(node)
    };
    let ports = stack::bridge_port_names(interfaces.iter().find(is_it)?);
    match ports.into_iter().filter(|port| *port != bridge).collect::<Vec<_>>()[..] {
        [only] => Some(only),
        _ => None,
    }
}

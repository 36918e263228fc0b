//! Documents that `nmgen boot` refuses.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Node, Path};

use crate::convert::Converted;

rules! {
    error NOT_IN_INITRAMFS = "not-in-initramfs";
}

/// Reports the first interface of Open vSwitch's: an initramfs has no database and no plugin for it.
pub(super) fn losses(converted: &Converted) -> Option<Diagnostic> {
    let document = converted.host.document()?;
    let interfaces = document.root.get("interfaces").map(Node::items).unwrap_or_default();
    let is_one = |node: &Node<'_>| {
        node.text_at("type").is_some_and(|kind| kind.starts_with("ovs-"))
            && matches!(node.text_at("state"), None | Some("up" | "down"))
    };
    let index = interfaces.iter().position(is_one)?;
    let path = Path::default().key("interfaces").index(index).key("type");
    let name = interfaces[index].text_at("name").unwrap_or_default();
    let message = format!("{name} is Open vSwitch's, which no initramfs has");
    let diagnostic = Diagnostic::new(NOT_IN_INITRAMFS, message, document.place_at(&path));
    Some(diagnostic.help("give the initramfs a document without it, and the node this one"))
}

/// The losses of all hosts.
pub(super) fn all(hosts: &[Converted]) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.extend(hosts.iter().filter_map(losses));
    found
}

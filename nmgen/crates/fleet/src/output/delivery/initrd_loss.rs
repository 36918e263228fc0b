//! Documents that `nmgen boot` refuses.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::{Node, Path};

use crate::convert::Converted;

rules! {
    error NOT_IN_INITRAMFS = "not-in-initramfs";
    warning NEEDS_SUPPLICANT = "needs-supplicant";
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

/// Reports the first interface that needs wpa_supplicant, which an initramfs has on request only.
fn needs(converted: &Converted) -> Option<Diagnostic> {
    let document = converted.host.document()?;
    let interfaces = document.root.get("interfaces").map(Node::items).unwrap_or_default();
    let key = |node: &Node<'_>| match (node.get("802.1x"), node.text_at("type")) {
        (Some(_), _) => Some("802.1x"),
        (None, Some("macsec")) => Some("type"),
        (None, _) => None,
    };
    let mut all = interfaces.iter().enumerate();
    let (index, key) = all.find_map(|(index, node)| Some((index, key(node)?)))?;
    let path = Path::default().key("interfaces").index(index).key(key);
    let name = interfaces[index].text_at("name").unwrap_or_default();
    let message =
        format!("{name} needs wpa_supplicant, without which `nmgen boot` refuses the document");
    let diagnostic = Diagnostic::new(NEEDS_SUPPLICANT, message, document.place_at(&path));
    Some(diagnostic.help("build the initramfs with nmgen_for=\"supplicant\" in dracut.conf"))
}

/// The losses of all hosts.
pub(super) fn all(hosts: &[Converted]) -> Diagnostics {
    let mut found = Diagnostics::default();
    found.extend(hosts.iter().filter_map(losses));
    found.extend(hosts.iter().filter_map(needs));
    found
}

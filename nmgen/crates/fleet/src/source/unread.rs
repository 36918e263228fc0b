//! Documents in objects, below a key that no consumer reads.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, Severity, rules};
use nmgen_document::{Node, Value};

use super::encoding;
use super::manifest::Manifest;

rules! {
    pub(super) error NETWORK_UNREAD = "network-unread";
}

/// What an object's readers look for: the kind, the key of the document, and who reads it.
const KEYS: &[(&str, &str, &str)] = &[
    ("AgentConfig", "hosts[].networkConfig", "openshift-install"),
    ("BareMetalHost", "the Secret of preprovisioningNetworkDataName", "metal3"),
    ("ClusterInstance", "spec.nodes[].nodeNetwork.config", "the siteconfig operator"),
    ("InstallConfig", "platform.baremetal.hosts[].networkConfig", "openshift-install"),
    ("NMStateConfig", "spec.config", "assisted-service"),
    ("NodeNetworkConfigurationPolicy", "spec.desiredState", "kubernetes-nmstate"),
    ("SiteConfig", "spec.clusters[].nodes[].nodeNetwork.config", "the siteconfig generator"),
];

/// Parts of an object that describe no host.
const ASIDE: &[&str] = &["metadata", "status"];

/// Tells of documents that are left in an object after its reader took those that it found, unless it told why it left one.
/// `is_lacking`: a host of the object has no network.
pub(super) fn check(manifest: &mut Manifest<'_>, root: &Node<'_>, kind: &str, is_lacking: bool) {
    let Some((_, wanted, reader)) = KEYS.iter().find(|(known, ..)| *known == kind) else { return };
    if manifest.has_errors() {
        return;
    }
    let mut found = Vec::new();
    for entry in root.entries().iter().filter(|entry| !ASIDE.contains(&&*entry.key)) {
        search(&entry.node, &entry.key, entry.key_span, &mut found);
    }
    for (key, span) in found {
        let place = manifest.document().place(span);
        manifest.tell(Diagnostics::from(unread(key, place, is_lacking, reader, wanted)));
    }
}

fn unread(key: &str, place: Place, is_lacking: bool, reader: &str, wanted: &str) -> Diagnostic {
    let severity = if is_lacking { Severity::Error } else { Severity::Warning };
    let message = format!("no consumer reads a network under \"{}\" here", key.escape_debug());
    let help = format!("{reader} reads {wanted}");
    Diagnostic::new(Rule { severity, ..NETWORK_UNREAD }, message, place).help(help)
}

/// Tells of a Secret's document under another key. Others may read it, unless a BareMetalHost wants it (`is_wanted`).
pub(super) fn in_secret(key: &str, place: Place, is_wanted: bool) -> Diagnostic {
    unread(key, place, is_wanted, "metal3", "data.nmstate or stringData.nmstate")
}

/// The first document in the data of a Secret, under another key than the one that is read.
pub(super) fn state_of<'n>(data: &'n Node<'_>) -> Option<(&'n str, nmgen_document::text::Span)> {
    let mut found = Vec::new();
    for entry in data.entries() {
        search(&entry.node, &entry.key, entry.key_span, &mut found);
    }
    found.into_iter().next()
}

type Found<'n> = Vec<(&'n str, nmgen_document::text::Span)>;

fn search<'n>(
    node: &'n Node<'_>,
    key: &'n str,
    span: nmgen_document::text::Span,
    found: &mut Found<'n>,
) {
    match &node.value {
        Value::Scalar { text, .. } => {
            let is_read = key == "nmstate";
            if !is_read && (is_state_text(text) || is_encoded_state(text)) {
                found.push((key, span));
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| search(item, key, span, found)),
        Value::Mapping(entries) => {
            if let Some(list) = entries.iter().find(|entry| is_list_of_interfaces(entry)) {
                // The owner of a document that is not the object's own part.
                let is_part = matches!(key, "spec" | "hosts" | "nodes" | "baremetal");
                found.push(if is_part { (&*list.key, list.key_span) } else { (key, span) });
                return;
            }
            for entry in entries {
                search(&entry.node, &entry.key, entry.key_span, found);
            }
        }
    }
}

/// A list of NMState's, and no map of cards.
fn is_list_of_interfaces(entry: &nmgen_document::Entry<'_>) -> bool {
    let is_interface = |item: &Node<'_>| {
        item.get("name").is_some() && (item.get("type").is_some() || item.get("state").is_some())
    };
    entry.key == "interfaces" && entry.node.items().iter().any(is_interface)
}

fn is_state_text(text: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| line.trim_end() == "interfaces:") && text.contains("type:")
}

fn is_encoded_state(text: &str) -> bool {
    /// base64 of "interfaces:" at the beginning, or behind "---".
    const BEGINNINGS: [&str; 2] = ["aW50ZXJmYWNlczo", "LS0t"];
    let is_it = BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning));
    let decoded = || encoding::base64(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    is_it && decoded().is_some_and(|text| is_state_text(&text))
}

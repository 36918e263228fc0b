//! NodeNetworkConfigurationPolicy objects of kubernetes-nmstate (`nmstate.io/v1`): day two of the
//! documents that MachineConfigs bring.

use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;
use nmgen_document::{Document, Node, Value};
use serde_json::json;

use super::host_name::named;
use super::kubernetes_object::{self, embedded, metadata, yaml};
use crate::convert::Converted;
use crate::derive::new::{entry, list, mapping, text, word};

/// The addresses that OVN-Kubernetes gives br-ex for its own use (`masqueradeSubnet`, the default since
/// 4.17). OpenShift's documentation asks for them in a policy, since nmstate removes all others.
const MASQUERADE: [(&str, &str, &str); 2] =
    [("ipv4", "169.254.0.2", "17"), ("ipv6", "fd69::2", "112")];

/// One object per host.
pub(crate) fn render(hosts: &[Converted], diagnostics: &mut Diagnostics) -> Result<Vec<u8>, Error> {
    let mut text = String::new();
    for (name, converted) in named("policy", hosts, diagnostics) {
        let host = &converted.host;
        let Some(document) = host.document() else { continue };
        if !kubernetes_object::is_name(name, "the host's name", &host.place, diagnostics) {
            continue;
        }
        text += &yaml(&json!({
            "apiVersion": "nmstate.io/v1",
            "kind": "NodeNetworkConfigurationPolicy",
            "metadata": metadata(&format!("{name}-br-ex"), None),
            "spec": { "nodeSelector": { "kubernetes.io/hostname": name } },
        }))?;
        // Appended as text, so that the document is not reformatted.
        text += "  desiredState:\n";
        text += &embedded(&with_masquerade(document), 4);
    }
    Ok(text.into_bytes())
}

fn with_masquerade(document: &Document<'static>) -> Document<'static> {
    let mut root = document.root.clone();
    for interface in root.items_mut_at(&["interfaces"]).iter_mut().filter(|node| {
        node.text_at("name") == Some("br-ex") && node.text_at("type") == Some("ovs-interface")
    }) {
        for (family, ip, length) in MASQUERADE {
            add(interface, family, ip, length);
        }
    }
    document.part(root)
}

/// Adds the address to an enabled family, unless it has it.
fn add(interface: &mut Node<'static>, family: &str, ip: &'static str, length: &'static str) {
    let Value::Mapping(entries) = &mut interface.value else { return };
    let Some(section) = entries.iter_mut().find(|entry| entry.key == family) else { return };
    let span = section.key_span;
    if section.node.get("enabled").and_then(Node::boolean) != Some(true) {
        return;
    }
    let Value::Mapping(entries) = &mut section.node.value else { return };
    let parts = vec![entry("ip", text(ip, span)), entry("prefix-length", word(length, span))];
    let address = mapping(parts, span);
    match entries.iter_mut().find(|entry| entry.key == "address").map(|entry| &mut entry.node.value)
    {
        Some(Value::Sequence(items)) if items.iter().any(|item| item.text_at("ip") == Some(ip)) => {
        }
        Some(Value::Sequence(items)) => items.push(address),
        Some(value) => *value = Value::Sequence(vec![address]),
        None => entries.push(entry("address", list(vec![address], span))),
    }
}

//! BareMetalHost of metal3: names the Secret with the host's network, and the boot NIC's MAC address.

use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::Place;
use nmgen_document::{Entry, Node};

use super::found::Found;
use super::found_host::HostSecret;
use super::manifest::{Manifest, Name};
use super::{installation, nmstate_config};

const REFERENCE: &str = "preprovisioningNetworkDataName";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let name = manifest.metadata(root);
    let label = nmstate_config::label(manifest, root);
    found.claim_member(name.as_ref().and_then(|(name, _)| name.namespace.as_deref()), label);
    let Some(spec) = manifest.get(root, "spec") else { return };
    let place = name.as_ref().map_or_else(|| manifest.place(spec), |(_, place)| place.clone());
    let namespace = name.as_ref().and_then(|(name, _)| name.namespace.clone());
    let named = |name: String| Name { namespace: namespace.clone(), name };
    manifest.verify_value(spec, REFERENCE, "metal3 hands no Secret to the ramdisk without it");
    let secret = if let Some((secret, node)) = manifest.text(spec, REFERENCE) {
        let (secret, place) = (named(secret.to_owned()), manifest.place(node));
        Some(HostSecret::Referred { secret, place })
    } else if let Some((secret, place)) = meant(manifest, spec) {
        Some(HostSecret::Referred { secret: named(secret), place })
    } else if manifest.misspelt(spec, &[REFERENCE]).is_none() {
        let data = spec.at(&["networkData", "name"]);
        let own = name.as_ref().map(|(name, _)| format!("{}-network-config-secret", name.name));
        let secrets = data.and_then(Node::text).map(str::to_owned).into_iter().chain(own);
        Some(HostSecret::Unreferred {
            secrets: secrets.map(named).collect(),
            place: data.map_or_else(|| place.clone(), |node| manifest.place(node)),
        })
    } else {
        None
    };
    let host = Host {
        stage: Stage::Early,
        is_machine: true,
        nics: manifest.nic(spec, "bootMACAddress", None).into_iter().collect(),
        ..Host::new(name.map(|(name, _)| name.name), place)
    };
    found.add_machine(host, installation::management_controller(manifest, spec), secret);
}

/// The Secret under a key that begins as the reference does, whose value may be another one's: `preprovisioningNetworkData`,
/// which looks like `networkData`.
fn meant(manifest: &mut Manifest<'_>, spec: &Node<'_>) -> Option<(String, Place)> {
    let is_it = |entry: &&Entry<'_>| entry.key.starts_with("preprovisioningNetwork");
    let entry = spec.entries().iter().find(is_it)?;
    let name = entry.node.get("name").unwrap_or(&entry.node);
    let secret = name.text()?;
    let (key_place, place) = (manifest.document().place(entry.key_span), manifest.place(name));
    if !manifest.is_told(&key_place) {
        let help = format!("write {REFERENCE}: {}", secret.escape_debug());
        manifest.unknown_key(key_place, &entry.key, &help);
    }
    Some((secret.to_owned(), place))
}

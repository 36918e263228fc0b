//! BareMetalHost of metal3: names the Secret with the host's network, and the boot NIC's MAC address.

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::{Found, Reference};
use super::manifest::{Manifest, Name};
use super::{installation, nmstate_config};

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let name = manifest.metadata(root);
    let label = nmstate_config::label(manifest, root);
    found.claim_member(name.as_ref().and_then(|(name, _)| name.namespace.as_deref()), label);
    let Some(spec) = manifest.get(root, "spec") else { return };
    let place = name.as_ref().map_or_else(|| manifest.place(spec), |(_, place)| place.clone());
    let namespace = name.as_ref().and_then(|(name, _)| name.namespace.clone());
    if let Some((secret, node)) = manifest.text(spec, "preprovisioningNetworkDataName") {
        found.references.push(Reference {
            host: found.loaded.hosts.len(),
            secret: Name { namespace, name: secret.to_owned() },
            place: manifest.place(node),
        });
    }
    let host = Host {
        stage: Stage::Early,
        is_machine: true,
        nics: manifest.nic(spec, "bootMACAddress", None).into_iter().collect(),
        ..Host::new(name.map(|(name, _)| name.name), place)
    };
    found.add_controller(&host, installation::management_controller(manifest, spec));
    found.add(host);
}

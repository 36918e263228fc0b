//! NodeNetworkConfigurationPolicy of kubernetes-nmstate: `spec.desiredState`, for the nodes that
//! `spec.nodeSelector` selects.

use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::Node;

use super::capture;
use super::extent::Extent;
use super::found::Found;
use super::manifest::Manifest;

const HOSTNAME: &str = "kubernetes.io/hostname";
const ROLE: &str = "node-role.kubernetes.io/";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let (policy, place) = manifest.metadata(root).unzip();
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    if let Some(captures) = manifest.get(spec, "capture") {
        let of_captures = capture::findings(captures, |node| manifest.place(node));
        manifest.tell(of_captures);
    }
    let captures = spec.get("capture").map(|node| node.clone().into_owned());
    let Some(document) = manifest.network(spec, "desiredState") else { return };
    let resolved = capture::resolve(document.clone(), None, &[]);
    // On the node they have values; nothing is wrong before something is to be made of them here.
    let document = match found.extent {
        Extent::Checked => Some(resolved.unwrap_or_else(|_| capture::policy(&document, captures))),
        Extent::Written | Extent::Shown | Extent::Converted | Extent::Validated => {
            manifest.accept(resolved)
        }
    };
    let selector = manifest.get(spec, "nodeSelector");
    let name = selector.and_then(|selector| selector.get(HOSTNAME));
    let place = name.map(|node| manifest.place(node)).or(place);
    let name = name.and_then(Node::text);
    let roles = selector.map(Node::entries).unwrap_or_default().iter();
    let role = roles.filter_map(|entry| entry.key.strip_prefix(ROLE)).next();
    found.add(Host {
        role: role.map(str::to_owned),
        stage: Stage::Node,
        network: HostNetwork::read(document),
        policy: Some(policy.map(|policy| policy.name).unwrap_or_default()),
        ..Host::new(name.map(str::to_owned), place.unwrap_or_else(|| manifest.place(spec)))
    });
}

//! A file with one host's `networkConfig` alone, named after the host: the pieces of which openshift-metal3/dev-scripts makes an
//! install-config (`network-configs`).

use std::path::Path;

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::hosts_directory::is_usable_name;
use super::manifest::Manifest;

pub(super) const KEY: &str = "networkConfig";

/// Adds the host of an ImageBasedInstallationConfig or ImageBasedConfig (openshift/installer, `pkg/types/imagebased`).
pub(super) fn image_based(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let name = manifest.text(root, "hostname").map(|(name, node)| (name.to_owned(), node.span));
    let place = match &name {
        Some((_, span)) => manifest.document().place(*span),
        None => manifest.key_place(root, Some("kind")),
    };
    let name = name.map(|(name, _)| name);
    let host = Host { stage: Stage::Early, is_machine: true, ..Host::new(name, place) };
    found.add(manifest.with_network(host, root, KEY));
}

/// Adds the host that the file is named after.
pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let place = manifest.key_place(root, None);
    let file = Path::new(&*place.file).file_stem().and_then(|stem| stem.to_str());
    let name = file.filter(|name| is_usable_name(name)).map(str::to_owned);
    let host = Host { stage: Stage::Early, ..Host::new(name, place) };
    found.add(manifest.with_network(host, root, KEY));
}

//! A file with one host's `networkConfig` alone, named after the host: the pieces of which openshift-metal3/dev-scripts makes an
//! install-config (`network-configs`).

use std::path::Path;

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::hosts_directory::is_usable_name;
use super::manifest::Manifest;

pub(super) const KEY: &str = "networkConfig";

/// Adds the host that the file is named after.
pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let place = manifest.key_place(root, None);
    let file = Path::new(&*place.file).file_stem().and_then(|stem| stem.to_str());
    let name = file.filter(|name| is_usable_name(name)).map(str::to_owned);
    let host = Host { stage: Stage::Early, ..Host::new(name, place) };
    found.add(manifest.with_network(host, root, KEY));
}

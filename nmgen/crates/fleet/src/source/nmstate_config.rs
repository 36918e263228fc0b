//! NMStateConfig of the assisted installer: `spec.config` and `spec.interfaces[]`
//! (openshift/assisted-service, `api/v1beta1/nmstate_config_types.go`).

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::manifest::Manifest;

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let name = manifest.metadata(root);
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    let place = name.as_ref().map_or_else(|| manifest.place(spec), |(_, place)| place.clone());
    let host = Host {
        stage: Stage::Early,
        nics: manifest.nics(spec, "interfaces"),
        ..Host::new(name.map(|(name, _)| name.name), place)
    };
    found.add(manifest.with_network(host, spec, "config"));
}

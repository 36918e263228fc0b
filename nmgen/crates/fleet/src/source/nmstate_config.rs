//! NMStateConfig of the assisted installer: `spec.config` and `spec.interfaces[]`
//! (openshift/assisted-service, `api/v1beta1/nmstate_config_types.go`).

use nmgen_core::source::{Host, Stage};
use nmgen_document::Node;

use super::found::Found;
use super::infra_env;
use super::manifest::Manifest;

/// The InfraEnv that the label of an object names, by assisted-service's convention.
const INFRA_ENV: &str = "infraenvs.agent-install.openshift.io";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &mut Node<'_>, found: &mut Found) {
    let name = manifest.metadata(root);
    let label = label(manifest, root).map(str::to_owned);
    let namespace = name.as_ref().and_then(|(name, _)| name.namespace.clone());
    found.claim_member(namespace.as_deref(), label.as_deref());
    let root_labels = infra_env::labels(manifest, root, &["metadata", "labels"]);
    let Some(spec) = manifest.get_mut(root, "spec") else { return };
    manifest.verify_map(
        spec,
        "interfaces",
        "assisted-service finds the host by it: give one card at least, with name and macAddress",
    );
    let place = name.as_ref().map_or_else(|| manifest.place(spec), |(_, place)| place.clone());
    found.infra_envs.add_config(namespace, root_labels, place.clone());
    let host = Host {
        stage: Stage::Early,
        needs_map: true,
        nics: manifest.nics(spec, "interfaces"),
        ..Host::new(name.map(|(name, _)| name.name), place)
    };
    found.add(manifest.with_network(host, spec, "config"));
}

/// The InfraEnv of an object of one host.
pub(super) fn label<'n>(manifest: &mut Manifest<'_>, root: &'n Node<'_>) -> Option<&'n str> {
    let labels = manifest.at(root, &["metadata", "labels"])?;
    labels.text_at(INFRA_ENV)
}

//! MachineConfig with the documents of `nmstate-configuration.service`: Ignition files at
//! `/etc/nmstate/openshift/<hostname>.yml` and `cluster.yml`, for the nodes of one role.

use nmgen_core::node::is_empty;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::{Document, Node};

use super::embedded;
use super::found::Found;
use super::hosts::MachineConfig;
use super::hosts_directory::{self, HOST_FILE_EMPTY};
use super::manifest::Manifest;
use super::os_image::ROLE;

/// The hosts directory on a node.
const DIRECTORY: &str = "/etc/nmstate/openshift";
/// The agent's unit.
const AGENT: &str = "dayone.service";

pub(super) fn load(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    // Each key is read once: a fault of its spelling is told once.
    let metadata = manifest.get(root, "metadata");
    let labels = metadata.and_then(|metadata| manifest.get(metadata, "labels"));
    let role = labels.and_then(|labels| labels.text_at(ROLE)).map(str::to_owned);
    let config = manifest.at(root, &["spec", "config"]);
    if let Some(metadata) = metadata {
        found.loaded.machine_configs.extend(itself(manifest, metadata, config, role.clone()));
    }
    let (role, directory) = (role.as_deref(), &found.origin.directory);
    found.os_images.read_machine_config(manifest, root, role, directory);
    if let Some(config) = config {
        files_of(manifest, config, role, found);
    }
}

/// True for a Butane file of a variant that may have documents.
pub(super) fn is_butane(root: &Node<'_>) -> bool {
    root.get("variant").is_some() && root.get("version").is_some()
}

/// Butane, of which `butane` makes a MachineConfig (coreos/butane, `config/openshift`): files with their text under `inline`.
pub(super) fn butane(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let role = manifest.at(root, &["metadata", "labels"]).and_then(|labels| labels.text_at(ROLE));
    files_of(manifest, root, role, found);
}

/// The MachineConfigs in a ConfigMap of a NodePool's (openshift/hypershift, `NodePool.spec.config`).
pub(super) fn in_config_map(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
) -> Vec<Document<'static>> {
    let data = root.get("data").filter(|data| data.text_at("config").is_some());
    let text = data.and_then(|data| manifest.text(data, "config"));
    let Some((text, node)) = text.filter(|(text, _)| text.contains("kind: MachineConfig")) else {
        return Vec::new();
    };
    let document = embedded::text(manifest.document(), node, text);
    manifest.accept(document).into_iter().collect()
}

/// The documents among the files of `storage`.
fn files_of(manifest: &mut Manifest<'_>, config: &Node<'_>, role: Option<&str>, found: &mut Found) {
    let storage = manifest.get(config, "storage");
    let files = storage.map(|storage| manifest.list(storage, "files")).unwrap_or_default();
    for file in files {
        let Some((path, at)) = manifest.text(file, "path") else { continue };
        let name = path.strip_prefix(DIRECTORY).and_then(|path| path.strip_prefix('/'));
        let Some(file_name) = name.filter(|name| !name.contains('/')) else { continue };
        let (name, faults) = hosts_directory::host_name(file_name, &manifest.place(at));
        manifest.accept::<()>(Err(faults));
        let Some(name) = name else { continue };
        let Some(document) = document(manifest, file, &mut found.unpacked) else { continue };
        if is_empty(document.text().as_bytes()) {
            let (message, help) = hosts_directory::EMPTY;
            manifest.add(HOST_FILE_EMPTY, manifest.place(at), message, help);
            continue;
        }
        found.add(Host {
            role: role.map(str::to_owned),
            stage: Stage::Node,
            network: HostNetwork::Written(document),
            ..Host::new(Some(name.to_owned()), manifest.place(at))
        });
    }
}

/// The object beside its documents.
fn itself(
    manifest: &mut Manifest<'_>,
    metadata: &Node<'_>,
    config: Option<&Node<'_>>,
    role: Option<String>,
) -> Option<MachineConfig> {
    let (name, at) = manifest.text(metadata, "name")?;
    let (name, place) = (name.to_owned(), manifest.place(at));
    let systemd = config.and_then(|config| manifest.get(config, "systemd"));
    let units = systemd.map(|systemd| manifest.list(systemd, "units")).unwrap_or_default();
    let is_enabled = |unit: &Node<'_>| unit.get("enabled").and_then(Node::text) == Some("true");
    let is_agent = |unit: &&Node<'_>| unit.text_at("name") == Some(AGENT);
    let has_agent = units
        .iter()
        .filter(is_agent)
        .any(|unit| is_enabled(unit) || unit.text_at("contents").is_some());
    Some(MachineConfig { name, role, has_agent, place })
}

fn document(
    manifest: &mut Manifest<'_>,
    file: &Node<'_>,
    unpacked: &mut usize,
) -> Option<Document<'static>> {
    let contents = manifest.get(file, "contents")?;
    if let Some(node) = contents.get("inline") {
        let text = node.text()?;
        let content = embedded::text(manifest.document(), node, text);
        return manifest.accept(content);
    }
    let compression = manifest.get(contents, "compression");
    let (source, node) = manifest.text(contents, "source")?;
    let content = embedded::data_url(manifest.document(), node, source, compression, unpacked);
    manifest.accept(content)
}

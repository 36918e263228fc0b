//! MachineConfig with the documents of `nmstate-configuration.service`: Ignition files at
//! `/etc/nmstate/openshift/<hostname>.yml` and `cluster.yml`, for the nodes of one role.

use nmgen_core::node::is_empty;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Rule, Severity, rules};
use nmgen_document::{Document, Node, spelling};

use super::embedded;
use super::found::Found;
use super::hosts::MachineConfig;
use super::hosts_directory::{self, HOST_FILE_EMPTY};
use super::manifest::{Manifest, SOURCE_SHAPE};
use super::os_image::{self, ROLE};
use super::unread::NETWORK_UNREAD;

rules! {
    error POOL_UNKNOWN = "pool-unknown";
}

/// The hosts directory on a node.
const DIRECTORY: &str = "/etc/nmstate/openshift";
/// The agent's unit.
const AGENT: &str = "dayone.service";

/// `is_in_pool`: it is a NodePool's, whose controller adds the label (openshift/hypershift).
pub(super) fn load(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
    is_in_pool: bool,
    found: &mut Found,
) {
    let before = found.hosts.len();
    // Each key is read once: a fault of its spelling is told once.
    let metadata = manifest.get(root, "metadata");
    let labels = metadata.and_then(|metadata| manifest.get(metadata, "labels"));
    let role = labels.and_then(|labels| labels.text_at(ROLE)).map(str::to_owned);
    let config = manifest.at(root, &["spec", "config"]);
    if let Some(metadata) = metadata {
        found.machine_configs.extend(itself(manifest, metadata, config, role.clone()));
    }
    let role = role.as_deref();
    os_image::machine_config(manifest, root, role, found);
    if let Some(config) = config {
        files_of(manifest, config, role, FileFormat::Ignition, found);
    }
    if role.is_none() && !is_in_pool && found.hosts.len() > before {
        without_role(manifest, root);
    }
}

/// A pool takes the MachineConfigs with the labels that it selects, its role by default (openshift/machine-config-operator,
/// `manifests/worker.machineconfigpool.yaml`); a pool of one's own may select others.
fn without_role(manifest: &mut Manifest<'_>, root: &Node<'_>) {
    let help = format!("write {ROLE}: worker, or another pool's name, below metadata.labels");
    let annotations = root.at(&["metadata", "annotations"]);
    if let Some(annotations) = annotations.filter(|node| node.get(ROLE).is_some()) {
        let place = manifest.key_place(annotations, Some(ROLE));
        let message =
            format!("{ROLE} is an annotation, not a label: no pool takes this MachineConfig");
        manifest.add(POOL_UNKNOWN, place, message, &help);
    } else if root.at(&["metadata", "labels"]).is_none_or(|labels| labels.entries().is_empty()) {
        // Without metadata it is a part of one.
        let Some(metadata) = root.get("metadata") else { return };
        let place = manifest.key_place(metadata, metadata.entry("name").map(|_| "name"));
        let message = "this MachineConfig has no labels: no pool takes it";
        let rule = Rule { severity: Severity::Warning, ..POOL_UNKNOWN };
        manifest.add(rule, place, message, &help);
    }
}

/// True for a Butane file of a variant that may have documents.
pub(super) fn is_butane(root: &Node<'_>) -> bool {
    root.get("variant").is_some() && root.get("version").is_some()
}

/// Butane, of which `butane` makes a MachineConfig (coreos/butane, `config/openshift`): files with their text under `inline`.
pub(super) fn butane(manifest: &mut Manifest<'_>, root: &Node<'_>, found: &mut Found) {
    let role = manifest.at(root, &["metadata", "labels"]).and_then(|labels| labels.text_at(ROLE));
    let before = found.hosts.len();
    files_of(manifest, root, role, FileFormat::Butane, found);
    let is_openshift = root.text_at("variant") == Some("openshift");
    if role.is_none() && is_openshift && found.hosts.len() > before {
        let message = format!("butane refuses this file: it has no label {ROLE}");
        let help = format!("write {ROLE}: worker, or another pool's name, below metadata.labels");
        manifest.add(POOL_UNKNOWN, manifest.key_place(root, Some("metadata")), message, &help);
    }
}

/// The MachineConfigs in a ConfigMap of a NodePool's (openshift/hypershift, `NodePool.spec.config`).
pub(super) fn in_config_map(
    manifest: &mut Manifest<'_>,
    root: &Node<'_>,
) -> Vec<Document<'static>> {
    let Some((data, config)) = root.get("data").and_then(|data| Some((data, data.get("config")?)))
    else {
        return Vec::new();
    };
    let is_object = config.text_at("kind") == Some("MachineConfig");
    if !is_object && !config.text().is_some_and(|text| text.contains("kind: MachineConfig")) {
        return Vec::new();
    }
    manifest.document_text(data, "config").into_iter().collect()
}

/// The two forms of a file's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileFormat {
    /// A URL under `source`.
    Ignition,
    /// Also text under `inline`, or a file under `local`.
    Butane,
}

/// The documents among the files of `storage`.
fn files_of(
    manifest: &mut Manifest<'_>,
    config: &Node<'_>,
    role: Option<&str>,
    format: FileFormat,
    found: &mut Found,
) {
    let storage = manifest.get(config, "storage");
    let files = storage.map(|storage| manifest.list(storage, "files")).unwrap_or_default();
    for file in files {
        let Some((path, at)) = manifest.text(file, "path") else { continue };
        let Some((directory, file_name)) = path.rsplit_once('/') else { continue };
        if directory != DIRECTORY {
            if !is_meant(directory) || !file_name.ends_with(".yml") {
                continue;
            }
            let message = format!("nodes read no documents in {}", directory.escape_debug());
            let help = format!("did you mean {DIRECTORY}/{}?", file_name.escape_debug());
            manifest.add(NETWORK_UNREAD, manifest.place(at), message, &help);
        }
        let (name, faults) = hosts_directory::host_name(file_name, &manifest.place(at));
        manifest.accept::<()>(Err(faults));
        let Some(name) = name else { continue };
        let document = document(manifest, file, format, &mut found.unpacked);
        let Some(document) = document else { continue };
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
    let has_agent = units
        .iter()
        .filter(|unit| unit.text_at("name") == Some(AGENT))
        .any(|unit| unit.text_at("enabled") == Some("true") || unit.text_at("contents").is_some());
    Some(MachineConfig { name, role, has_agent, place })
}

/// True for a directory that is misspelt, and no other one's.
fn is_meant(directory: &str) -> bool {
    let is_rooted = directory.starts_with('/');
    is_rooted && spelling::is_alike(directory, DIRECTORY) || format!("/{directory}") == DIRECTORY
}

fn document(
    manifest: &mut Manifest<'_>,
    file: &Node<'_>,
    format: FileFormat,
    unpacked: &mut usize,
) -> Option<Document<'static>> {
    let contents = manifest.get(file, "contents")?;
    if contents.text().is_some() {
        let key = if format == FileFormat::Butane { "inline" } else { "source" };
        let message = "contents is text, not a mapping";
        let place = manifest.key_place(file, Some("contents"));
        manifest.add(SOURCE_SHAPE, place, message, &format!("write \"{key}:\" below contents"));
        return None;
    }
    if contents.get("inline").is_some() {
        if format == FileFormat::Ignition {
            let message = "a MachineConfig has no inline, which is Butane's: the file is empty";
            let help = "write source: data:,..., or let butane make the MachineConfig";
            manifest.add(SOURCE_SHAPE, manifest.key_place(contents, Some("inline")), message, help);
        }
        return manifest.document_text(contents, "inline");
    }
    let compression = manifest.get(contents, "compression");
    let (source, node) = manifest.text(contents, "source")?;
    let content = embedded::data_url(manifest.document(), node, source, compression, unpacked);
    manifest.accept(content)
}

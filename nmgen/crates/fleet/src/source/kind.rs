//! Recognises the kind of a file by its content.

use nmgen_core::node::is_empty;
use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostics, Place, rules};
use nmgen_document::nested::{parse_stream, usable};
use nmgen_document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, document_size};
use nmgen_document::spelling::{self, is_among};
use nmgen_document::template::TEMPLATE;
use nmgen_document::text::Source;
use nmgen_document::{Document, Node, Value};

use super::extent::Extent;
use super::found::Found;
use super::manifest::{KEY_CASE, Manifest, is_full};
use super::network_words::{KINDS, is_about_network};
use super::origin::Claim;
use super::{
    acm_policy, agent_cluster_install, agent_config, api_version, bare_metal_host,
    cluster_instance, hardware, infra_env, install_config, keys, machine_config, network_config,
    nmstate_config, node_network_state, os_image, other_format, policy, secret,
    static_network_config, unread,
};

rules! {
    error KIND_MISSING = "kind-missing";
    error KIND_MISSPELT = "kind-misspelt";
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceKind<'a> {
    /// One node's network as NMState.
    State,
    /// The installer's `install-config.yaml`, which may lack `kind`.
    InstallConfig,
    /// A host's `networkConfig` alone.
    NetworkConfig,
    /// `nodes-config.yaml`, which has an agent-config's hosts.
    NodesConfig,
    /// The hosts of a request to assisted-service.
    StaticNetworkConfig,
    /// Butane, of which MachineConfigs are made.
    Butane,
    /// A Kubernetes object by its kind; empty if the kind is missing.
    Object(&'a str),
}

/// The key of every manifest.
const API_VERSION: &str = "apiVersion";

/// The kind of a NodePool's objects.
const CONFIG_MAP: &str = "ConfigMap";

/// The keys that identify an install-config.
const INSTALL_CONFIG: &[&str] = &["platform", "baseDomain", "controlPlane", "networking"];

/// The size limit of a file: a manifest may describe a fleet.
pub(super) fn limit(beginning: &[u8]) -> usize {
    let is_large = mentions(beginning, API_VERSION) || hardware::is_collected(beginning);
    if is_large { MAX_FLEET_BYTES } else { MAX_DOCUMENT_BYTES }
}

/// True if the text has the key, in any case.
fn mentions(text: &[u8], key: &str) -> bool {
    text.windows(key.len()).any(|window| window.eq_ignore_ascii_case(key.as_bytes()))
}

/// The sort of a directory's file.
#[derive(Debug)]
pub(super) enum Sort {
    /// Kinds of files that name their hosts.
    Fleet,
    /// One host's document, or the attempt at one; the host has no name yet.
    Host(Box<Result<Host, Diagnostics>>),
    /// Anything else that has this extension, with what is known of it.
    Other(Vec<String>),
}

/// The sort of a file in a directory, which may hold anything.
pub(super) fn sort(source: &Source) -> Sort {
    let of_fleets = [API_VERSION, network_config::KEY, static_network_config::DOCUMENT, "variant"];
    let may_be_fleet = of_fleets.iter().any(|key| mentions(source.text.as_bytes(), key));
    let documents = parse_stream(source);
    let is_broken = documents.iter().any(Result::is_err);
    let roots = || documents.iter().flatten().map(|document| &document.root);
    let is_kind = |root: &Node<'_>| kind(root, word(root)) != SourceKind::State;
    let lacks_version =
        || documents.iter().flatten().any(|document| api_version::lacking(document).is_some());
    if may_be_fleet && roots().any(is_kind) || lacks_version() {
        return Sort::Fleet;
    }
    let is_template =
        || documents.iter().filter_map(|document| document.as_ref().err()).any(is_template);
    if is_broken && is_template() {
        return match (is_about_network(&source.text), may_be_fleet) {
            (true, true) => Sort::Fleet,
            (true, false) => host(source, documents),
            // Nothing tells that it has a host's network.
            (false, _) => Sort::Other(vec!["templates".to_owned()]),
        };
    }
    let is_state = roots().any(is_like_state) || is_empty(source.text.as_bytes());
    match is_state || is_broken && is_about_network(&source.text) {
        true => host(source, documents),
        false => Sort::Other(Vec::new()),
    }
}

fn host(source: &Source, mut documents: Vec<Result<Document<'_>, Diagnostics>>) -> Sort {
    Sort::Host(Box::new(state(source, documents.pop(), false)))
}

fn is_template(faults: &Diagnostics) -> bool {
    faults.iter().any(|fault| fault.rule == TEMPLATE)
}

/// NMState's own keys of a document.
const STATE: &str = "interfaces routes route-rules dns-resolver ovs-db ovn capture desiredState";

/// True for a mapping with a key of NMState's, perhaps misspelt.
fn is_like_state(root: &Node<'_>) -> bool {
    // A word of two letters is alike to many.
    let is_alike =
        |key: &str, known: &str| key.len() >= known.len().min(4) && spelling::is_alike(key, known);
    let is_key = |key: &str| STATE.split(' ').any(|known| is_alike(key, known));
    let hostname = root.get("hostname").is_some_and(|node| !node.entries().is_empty());
    // An empty document is one, too.
    hostname
        || root.entries().iter().any(|entry| is_key(&entry.key))
        || root.entries().is_empty() && root.items().is_empty() && root.text().is_none()
}

/// Adds the hosts of a file. An NMState document is alone in its file; other kinds may repeat.
pub(super) fn load(source: &Source, found: &mut Found) {
    let (before, faults) = (found.count(), found.diagnostics.len());
    found.origin.claim(Claim::Nothing);
    if hardware::collected(source, found) {
        return;
    }
    found.allow(source);
    if let Some(told) = other_format::of_text(source) {
        found.diagnostics.push(told);
        return;
    }
    let mut documents = parse_stream(source);
    let roots = || documents.iter().flatten().map(|document| &document.root);
    let kinds = || roots().map(|root| kind(root, word(root)));
    let is_state = kinds().all(|kind| kind == SourceKind::State) && kinds().next().is_some();
    if let Some(told) = documents.iter().flatten().find_map(|document| {
        other_format::of_document(document).or_else(|| api_version::lacking(document))
    }) {
        found.diagnostics.push(told);
        return;
    }
    if is_state {
        let is_converted = found.extent == Extent::Converted;
        found.add_read(state(source, documents.pop(), is_converted));
        return;
    }
    let mut passed_over = Vec::new();
    for document in documents {
        if is_full(&mut found.diagnostics, &source.name) {
            break;
        }
        match document.map(Document::merged) {
            Ok(mut document) => {
                let mut root = document.root.take();
                one(&document, &mut root, None, found, &mut passed_over);
            }
            Err(faults) => found.diagnostics.extend(faults),
        }
    }
    if found.count() == before && found.diagnostics.len() == faults {
        found.add_passed_over(source.name.clone(), passed_over);
    }
}

/// The host of an NMState document; the faults if the file has none or several.
fn state(
    source: &Source,
    document: Option<Result<Document<'_>, Diagnostics>>,
    is_converted: bool,
) -> Result<Host, Diagnostics> {
    let place = Place::file(source.name.clone());
    if source.text.len() > MAX_DOCUMENT_BYTES {
        return Err(Diagnostics::from(document_size(place)));
    }
    let document = match document {
        // A section of the file would hide the others.
        Some(Ok(document)) if document.source().text.len() == source.text.len() => {
            usable(document)?
        }
        _ => nmgen_document::parse(source)?,
    };
    let document = if is_converted { desired(document) } else { document };
    let host = Host::new(None, place);
    Ok(Host { network: HostNetwork::Written(document.into_owned()), ..host })
}

/// The desired state of a NetworkPolicy that captures nothing. The values of a capture only a node knows: such a policy stays,
/// and is told.
fn desired(document: Document<'_>) -> Document<'_> {
    let is_empty = |node: &Node<'_>| {
        node.is_null() || matches!(&node.value, Value::Mapping(entries) if entries.is_empty())
    };
    let entries = document.root.entries().iter();
    let filled = entries.filter(|entry| entry.key != "capture" || !is_empty(&entry.node));
    match filled.collect::<Vec<_>>()[..] {
        [entry] if ["desired", "desiredState"].contains(&&*entry.key) => {
            document.part(entry.node.clone())
        }
        _ => document,
    }
}

/// Keys below which a host's network stands, wherever it is.
const OWNERS: &[&str] = &["interfaces", "networkConfig", "nodeNetwork", "desiredState", "hosts"];

/// True for a document of no kind that has a network nevertheless.
fn has_network(node: &Node<'_>) -> bool {
    is_like_state(node) && !node.entries().is_empty()
        || node
            .entries()
            .iter()
            .any(|entry| OWNERS.contains(&&*entry.key) || has_network(&entry.node))
        || node.items().iter().any(has_network)
}

/// The document's own word for its kind.
fn word<'a>(root: &'a Node<'_>) -> Option<&'a str> {
    find(root, "kind").and_then(Node::text)
}

/// The kind of a document with this word.
fn kind<'a>(root: &Node<'_>, word: Option<&'a str>) -> SourceKind<'a> {
    // A misspelt case of the key is a manifest's fault; the file is still a manifest.
    let is_manifest = find(root, API_VERSION).is_some();
    match word {
        Some("InstallConfig") => SourceKind::InstallConfig,
        Some(kind) if is_manifest => SourceKind::Object(kind),
        None if is_manifest && INSTALL_CONFIG.iter().any(|key| root.get(key).is_some()) => {
            SourceKind::InstallConfig
        }
        // The installer asks an agent-config for its apiVersion alone (`ConvertAgentConfig`).
        None if is_manifest
            && (root.get("rendezvousIP").is_some() || agent_config::is_nodes(root)) =>
        {
            SourceKind::Object("AgentConfig")
        }
        None if is_manifest => SourceKind::Object(""),
        None if agent_config::is_nodes(root) => SourceKind::NodesConfig,
        None if find(root, network_config::KEY).is_some() => SourceKind::NetworkConfig,
        None if static_network_config::is_it(root) => SourceKind::StaticNetworkConfig,
        None if machine_config::is_butane(root) => SourceKind::Butane,
        _ => SourceKind::State,
    }
}

fn find<'a, 't>(root: &'a Node<'t>, key: &str) -> Option<&'a Node<'t>> {
    let entry = root.entries().iter().find(|entry| entry.key.eq_ignore_ascii_case(key));
    entry.map(|entry| &entry.node)
}

/// The hosts of an object in `document`; `of` is the kind of an item that does not tell its own, or of the object around it.
fn one(
    document: &Document<'_>,
    node: &mut Node<'_>,
    of: Option<&str>,
    found: &mut Found,
    passed_over: &mut Vec<String>,
) {
    use SourceKind::Object;
    let (before, hosts_before) = (found.count(), found.hosts.len());
    let without_before = found.without_hosts.len();
    found.origin.claim(Claim::Nothing);
    let word = word(node).map(str::to_owned);
    let kind = match (kind(node, word.as_deref()), of) {
        (SourceKind::State | SourceKind::Object(""), Some(of)) => SourceKind::Object(of),
        (kind, _) => kind,
    };
    let mut diagnostics = Diagnostics::default();
    let mut manifest = Manifest::new(document, &mut diagnostics);
    let name = match kind {
        SourceKind::InstallConfig => "InstallConfig",
        SourceKind::NodesConfig => keys::NODES_CONFIG,
        SourceKind::Object(kind) => kind,
        SourceKind::State
        | SourceKind::NetworkConfig
        | SourceKind::StaticNetworkConfig
        | SourceKind::Butane => "",
    };
    manifest.decoder = keys::decoder(name);
    manifest.get(node, API_VERSION);
    manifest.get(node, "kind");
    match kind {
        SourceKind::State | Object("") if !has_network(node) => {}
        SourceKind::State | Object("") => {
            let message = "missing `kind`";
            let help = "give an NMState document in a file of its own";
            manifest.add(KIND_MISSING, manifest.key_place(node, None), message, help);
        }
        SourceKind::InstallConfig => install_config::load(&mut manifest, node, found),
        SourceKind::NetworkConfig => network_config::load(&mut manifest, node, found),
        SourceKind::NodesConfig => agent_config::nodes(&mut manifest, node, found),
        SourceKind::StaticNetworkConfig => static_network_config::load(&mut manifest, node, found),
        SourceKind::Butane => machine_config::butane(&mut manifest, node, found),
        Object("ImageBasedInstallationConfig" | "ImageBasedConfig") => {
            network_config::image_based(&mut manifest, node, found);
        }
        Object("InfraEnv") => infra_env::load(&mut manifest, node, found),
        Object(CONFIG_MAP) => {
            // A NodePool's, whose nodes get the objects in it.
            for mut inner in machine_config::in_config_map(&mut manifest, node) {
                let mut root = inner.root.take();
                one(&inner, &mut root, Some(CONFIG_MAP), found, passed_over);
            }
        }
        Object("AgentConfig") => agent_config::load(&mut manifest, node, found),
        Object("Secret") => secret::load(&mut manifest, node, found),
        Object("BareMetalHost") => {
            bare_metal_host::load(&mut manifest, node, found);
            hardware::metal3(&manifest, node, "status", found);
        }
        Object("HardwareData") => hardware::metal3(&manifest, node, "spec", found),
        Object("Agent") => hardware::agent(&manifest, node, found),
        Object("NMStateConfig") => nmstate_config::load(&mut manifest, node, found),
        Object("NodeNetworkConfigurationPolicy") => {
            policy::load(&mut manifest, node, found);
        }
        Object("NodeNetworkState") => {
            node_network_state::load(&mut manifest, node, found);
        }
        Object("MachineConfig") => {
            machine_config::load(&mut manifest, node, of == Some(CONFIG_MAP), found);
        }
        Object("MachineConfigPool") => os_image::pool(&mut manifest, node, found),
        Object("MachineOSConfig") => os_image::os_config(&mut manifest, node, found),
        Object("ClusterInstance") => {
            cluster_instance::load(&mut manifest, node, found);
        }
        Object("SiteConfig") => cluster_instance::site(&mut manifest, node, found),
        Object("AgentClusterInstall") => {
            agent_cluster_install::load(&mut manifest, node, found);
        }
        Object("ClusterDeployment") => {
            agent_cluster_install::deployment(&mut manifest, node, found);
        }
        Object("Policy") => {
            for object in acm_policy::templates(&mut manifest, node) {
                one(document, object, None, found, passed_over);
            }
        }
        Object("ConfigurationPolicy") => {
            for object in acm_policy::objects(&mut manifest, node) {
                one(document, object, None, found, passed_over);
            }
            if let Some(mut raw) = acm_policy::raw(&mut manifest, node) {
                let mut root = raw.root.take();
                for object in acm_policy::objects_of(&mut root) {
                    one(&raw, object, None, found, passed_over);
                }
            }
        }
        Object(kind) => {
            if let Some(meant) = meant(kind, node) {
                let message =
                    format!("\"{}\" is no kind of a host's description", kind.escape_debug());
                let place = find(node, "kind").map_or(node.span, |value| value.span);
                let help = format!("did you mean \"{meant}\"?");
                manifest.add(KIND_MISSPELT, document.place(place), message, &help);
            } else if let Some(of) = kind.strip_suffix("List") {
                for item in manifest.list_mut(node, "items") {
                    if is_full(&mut found.diagnostics, &document.source().name) {
                        break;
                    }
                    one(document, item, Some(of), found, passed_over);
                }
            }
        }
    }
    if found.count() > before {
        api_version::check(&mut manifest, node, name);
    }
    if keys::check(&mut manifest, node, name) {
        found.excuse(hosts_before, without_before);
    }
    if let SourceKind::Object(kind) = kind {
        let is_lacking = found.lacks_network(hosts_before);
        unread::check(&mut manifest, node, kind, is_lacking);
    }
    if let SourceKind::Object(kind) = kind
        && found.count() == before
        && !kind.ends_with("List")
    {
        // A key's fault is its readers' to tell.
        if !is_among(kind, KINDS) && !has_network(node) {
            diagnostics.retain(|fault| fault.rule != KEY_CASE);
        }
        if !kind.is_empty() {
            passed_over.push(kind.to_owned());
        }
    }
    found.diagnostics.extend(diagnostics);
}

/// The kind that a misspelt one of an object with a host's network is meant as.
fn meant(kind: &str, root: &Node<'_>) -> Option<&'static str> {
    let known = KINDS.split(' ').find(|known| spelling::is_alike(kind, known));
    let version = find(root, API_VERSION).and_then(Node::text).unwrap_or_default();
    let known = known.or_else(|| api_version::meant(kind, version));
    known.filter(|known| *known != kind && has_network(root))
}

#[cfg(test)]
mod tests {
    use nmgen_document::diagnostic::Diagnostic;

    use super::*;

    /// The number of hosts in a file, and the faults.
    fn found_in(text: &str) -> (usize, Vec<String>) {
        let source = Source { name: "a.yaml".into(), text: text.into() };
        let mut found = Found::default();
        load(&source, &mut found);
        let told = found.unused_file();
        let Found { hosts, diagnostics, without_hosts, .. } = found;
        let faults = diagnostics.iter().chain(&*without_hosts).chain(&told);
        (hosts.len(), faults.map(Diagnostic::one_line).collect())
    }

    #[test]
    fn a_file_is_known_by_its_keys_and_passed_over_with_its_kind() {
        let unused = "nothing here describes a host's network";
        for (text, hosts, told) in [
            ("interfaces: []\n", 1, ""),
            ("kind: Secret\n", 0, "this Secret has no apiVersion"),
            // Keys of other kinds without `apiVersion` are nmstate's to refuse.
            ("platform: {none: {}}\n", 1, ""),
            ("networkConfig: {interfaces: []}\n", 1, ""),
            ("apiVersion: v1\nplatform: {none: {}}\n", 0, "this install-config has no hosts"),
            ("kind: InstallConfig\n", 0, "this install-config has no hosts"),
            ("apiVersion: v1\ninterfaces: []\n", 0, "missing `kind` [kind-missing]"),
            (
                "apiVersion: v1beta1\nhosts:\n- hostname: a\n  interfaces: [{name: e, macAddress: 52:54:00:00:00:01}]\n",
                1,
                "",
            ),
            ("apiversion: v1\nkind: ConfigMap\n", 0, &format!("{unused}: ConfigMap only")),
            (MAP, 0, &format!("{unused}: ConfigMap only")),
            (&format!("{MAP}---\n{MAP}"), 0, &format!("{unused}: ConfigMap only")),
            (
                &format!("{MAP}---\n{}", MAP.replace("ConfigMap", "Namespace")),
                0,
                &format!("{unused}: ConfigMap and other kinds only"),
            ),
            (
                "apiVersion: v1\nkind: ConfigMapList\nitems: [{data: {}}]\n",
                0,
                &format!("{unused}: ConfigMap only"),
            ),
            ("apiVersion: v1\nkind: List\nitems: []\n", 0, &format!("{unused} [")),
        ] {
            let found = found_in(text);
            assert_eq!((found.0, found.1.len()), (hosts, usize::from(!told.is_empty())), "{text}");
            assert!(found.1.iter().all(|fault| fault.contains(told)), "{text}: {found:?}");
        }
    }

    const MAP: &str = "apiVersion: v1\nkind: ConfigMap\n";

    #[test]
    fn a_document_is_alone_in_its_file_and_no_larger_where_it_mentions_a_key_of_manifests() {
        let beginning = "# apiVersion\ninterfaces: []\n";
        let (one, end) = (found_in(beginning), format!("{beginning}---\n# the end\n"));
        assert_eq!(one, (1, vec![]));
        for text in [&end, &format!("{beginning}---\n{beginning}")] {
            let (hosts, faults) = found_in(text);
            assert_eq!((hosts, faults.len()), (0, 1), "{text}: {faults:?}");
        }
        for (size, expected) in [(MAX_DOCUMENT_BYTES, 1), (MAX_DOCUMENT_BYTES + 1, 0)] {
            let comment = "#".repeat(size - beginning.len());
            assert_eq!(found_in(&format!("{beginning}{comment}")).0, expected);
        }
    }
}

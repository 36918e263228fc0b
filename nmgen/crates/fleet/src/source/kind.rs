//! Recognises the kind of a file by its content.

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::nested::{dialect_fault, parse_stream};
use nmgen_document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, document_size};
use nmgen_document::text::Source;
use nmgen_document::{Document, Node};

use super::clusters::Claim;
use super::found::{Found, UNUSED_FILE};
use super::manifest::{Manifest, is_full};
use super::{
    acm_policy, agent_cluster_install, agent_config, bare_metal_host, cluster_instance,
    install_config, machine_config, network_config, nmstate_config, node_network_state, policy,
    secret,
};

rules! {
    error KIND_MISSING = "kind-missing";
}

/// The kind of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind<'a> {
    /// One node's network as NMState.
    State,
    /// The installer's `install-config.yaml`, which may lack `kind`.
    InstallConfig,
    /// A host's `networkConfig` alone.
    NetworkConfig,
    /// A Kubernetes object by its kind; empty if the kind is missing.
    Manifest(&'a str),
}

/// The key of every manifest.
const API_VERSION: &str = "apiVersion";

/// The keys that identify an install-config.
const INSTALL_CONFIG: &[&str] = &["platform", "baseDomain", "controlPlane", "networking"];

/// The size limit of a file: a manifest may describe a fleet.
pub(super) fn limit(beginning: &[u8]) -> usize {
    if mentions(beginning, API_VERSION) { MAX_FLEET_BYTES } else { MAX_DOCUMENT_BYTES }
}

/// True if the text has the key, in any case.
fn mentions(text: &[u8], key: &str) -> bool {
    text.windows(key.len()).any(|window| window.eq_ignore_ascii_case(key.as_bytes()))
}

/// True for a file of any kind but NMState. Files without a key of the other kinds are not parsed for that.
pub(super) fn is_of_fleet(source: &Source) -> bool {
    let is_mentioned = |key: &&str| mentions(source.text.as_bytes(), key);
    let is_other =
        |document: &Document<'_>| kind(&document.root, word(&document.root)) != Kind::State;
    [API_VERSION, network_config::KEY].iter().any(is_mentioned)
        && parse_stream(source).iter().flatten().any(is_other)
}

/// The hosts of a file. An NMState document is alone in its file, and belongs to the host `name`;
/// other kinds may repeat.
pub(super) fn load(source: &Source, name: Option<&str>, found: &mut Found) {
    let (before, faults) = (found.count(), found.loaded.diagnostics.len());
    found.origin.claim(Claim::Nothing);
    let mut documents = parse_stream(source);
    let roots = || documents.iter().flatten().map(|document| &document.root);
    let kinds = || roots().map(|root| kind(root, word(root)));
    let is_state = kinds().all(|kind| kind == Kind::State) && kinds().next().is_some();
    if is_state {
        found.add_read(state(source, name, documents.pop()));
        return;
    }
    let mut passed_over = Vec::new();
    for document in documents {
        if is_full(&mut found.loaded.diagnostics, &source.name) {
            break;
        }
        match document.map(Document::merged) {
            Ok(mut document) => {
                let mut root = document.root.take();
                one(&document, &mut root, None, name, found, &mut passed_over);
            }
            Err(faults) => found.loaded.diagnostics.extend(faults),
        }
    }
    if found.count() == before && found.loaded.diagnostics.len() == faults {
        found.loaded.diagnostics.push(unused(source, &passed_over));
    }
}

/// The host of an NMState document; the faults if the file has none or several.
fn state(
    source: &Source,
    name: Option<&str>,
    document: Option<Result<Document<'_>, Diagnostics>>,
) -> Result<Host, Diagnostics> {
    let place = Place::file(source.name.clone());
    if source.text.len() > MAX_DOCUMENT_BYTES {
        return Err(Diagnostics::from(document_size(place)));
    }
    let document = match document {
        // A section of the file would hide the others.
        Some(Ok(document)) if document.source().text.len() == source.text.len() => {
            match dialect_fault(&document) {
                Some(fault) => return Err(Diagnostics::from(fault)),
                None => document,
            }
        }
        _ => nmgen_document::parse(source)?,
    };
    let host = Host::new(name.map(str::to_owned), place);
    Ok(Host { network: HostNetwork::Written(document.into_owned()), ..host })
}

fn unused(source: &Source, kinds: &[String]) -> Diagnostic {
    let mut message = "nothing here describes a host's network".to_owned();
    if let Some(kind) = kinds.first() {
        let others = kinds.iter().any(|other| other != kind);
        let others = if others { " and other kinds" } else { "" };
        message += &format!(": {}{others} only", kind.escape_debug());
    }
    Diagnostic::new(UNUSED_FILE, message, Place::file(source.name.clone()))
        .help("`nmgen check --help` lists the kinds of files that do")
}

/// The document's own word for its kind.
fn word<'a>(root: &'a Node<'_>) -> Option<&'a str> {
    find(root, "kind").and_then(Node::text)
}

/// The kind of a document with this word.
fn kind<'a>(root: &Node<'_>, word: Option<&'a str>) -> Kind<'a> {
    // A misspelt case of the key is a manifest's fault; the file is still a manifest.
    let is_manifest = find(root, API_VERSION).is_some();
    match word {
        Some("InstallConfig") => Kind::InstallConfig,
        Some(kind) if is_manifest => Kind::Manifest(kind),
        None if is_manifest && INSTALL_CONFIG.iter().any(|key| root.get(key).is_some()) => {
            Kind::InstallConfig
        }
        None if is_manifest => Kind::Manifest(""),
        None if find(root, network_config::KEY).is_some() => Kind::NetworkConfig,
        _ => Kind::State,
    }
}

fn find<'a, 't>(root: &'a Node<'t>, key: &str) -> Option<&'a Node<'t>> {
    let entry = root.entries().iter().find(|entry| entry.key.eq_ignore_ascii_case(key));
    entry.map(|entry| &entry.node)
}

/// The hosts of an object in `document`; `of` is the kind of an item that does not tell its own.
fn one(
    document: &Document<'_>,
    node: &mut Node<'_>,
    of: Option<&str>,
    name: Option<&str>,
    found: &mut Found,
    passed_over: &mut Vec<String>,
) {
    let before = found.count();
    found.origin.claim(Claim::Nothing);
    let word = word(node).map(str::to_owned);
    let kind = match (kind(node, word.as_deref()), of) {
        (Kind::State | Kind::Manifest(""), Some(of)) => Kind::Manifest(of),
        (kind, _) => kind,
    };
    let mut diagnostics = Diagnostics::default();
    let mut manifest = Manifest::new(document, &mut diagnostics);
    manifest.get(node, API_VERSION);
    manifest.get(node, "kind");
    match kind {
        Kind::State | Kind::Manifest("") => {
            let message = "missing `kind`";
            let help = "give an NMState document in a file of its own";
            manifest.add(KIND_MISSING, manifest.key_place(node, None), message, help);
        }
        Kind::InstallConfig => install_config::load(&mut manifest, node, found),
        Kind::NetworkConfig => network_config::load(&mut manifest, node, name, found),
        Kind::Manifest("AgentConfig") => agent_config::load(&mut manifest, node, found),
        Kind::Manifest("Secret") => secret::load(&mut manifest, node, found),
        Kind::Manifest("BareMetalHost") => bare_metal_host::load(&mut manifest, node, found),
        Kind::Manifest("NMStateConfig") => nmstate_config::load(&mut manifest, node, found),
        Kind::Manifest("NodeNetworkConfigurationPolicy") => {
            policy::load(&mut manifest, node, found);
        }
        Kind::Manifest("NodeNetworkState") => node_network_state::load(&mut manifest, node, found),
        Kind::Manifest("MachineConfig") => machine_config::load(&mut manifest, node, found),
        Kind::Manifest("ClusterInstance") => cluster_instance::load(&mut manifest, node, found),
        Kind::Manifest("SiteConfig") => cluster_instance::site(&mut manifest, node, found),
        Kind::Manifest("AgentClusterInstall") => {
            agent_cluster_install::load(&mut manifest, node, found);
        }
        Kind::Manifest("ClusterDeployment") => {
            agent_cluster_install::deployment(&mut manifest, node, found);
        }
        Kind::Manifest("Policy") => {
            for object in acm_policy::templates(&mut manifest, node) {
                one(document, object, None, None, found, passed_over);
            }
        }
        Kind::Manifest("ConfigurationPolicy") => {
            for object in acm_policy::objects(&mut manifest, node) {
                one(document, object, None, None, found, passed_over);
            }
            if let Some(mut raw) = acm_policy::raw(&mut manifest, node) {
                let mut root = raw.root.take();
                for object in acm_policy::objects_of(&mut root) {
                    one(&raw, object, None, None, found, passed_over);
                }
            }
        }
        Kind::Manifest(kind) => {
            if let Some(of) = kind.strip_suffix("List") {
                for item in manifest.list_mut(node, "items") {
                    if is_full(&mut found.loaded.diagnostics, &document.source().name) {
                        break;
                    }
                    one(document, item, Some(of), None, found, passed_over);
                }
            }
        }
    }
    if let Kind::Manifest(kind) = kind
        && found.count() == before
        && !kind.ends_with("List")
    {
        passed_over.push(kind.to_owned());
    }
    found.loaded.diagnostics.extend(diagnostics);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of hosts in a file, and the faults.
    fn found_in(text: &str) -> (usize, Vec<String>) {
        let source = Source { name: "a.yaml".into(), text: text.into() };
        let mut found = Found::default();
        load(&source, None, &mut found);
        let Found { loaded, without_hosts, .. } = found;
        let faults = loaded.diagnostics.iter().chain(&*without_hosts);
        (loaded.hosts.len(), faults.map(Diagnostic::one_line).collect())
    }

    #[test]
    fn a_file_is_known_by_its_keys_and_passed_over_with_its_kind() {
        let unused = "nothing here describes a host's network";
        for (text, hosts, told) in [
            ("interfaces: []\n", 1, ""),
            // Keys of other kinds without `apiVersion` are nmstate's to refuse.
            ("kind: Secret\n", 1, ""),
            ("platform: {none: {}}\n", 1, ""),
            ("networkConfig: {interfaces: []}\n", 1, ""),
            ("apiVersion: v1\nplatform: {none: {}}\n", 0, "this install-config has no hosts"),
            ("kind: InstallConfig\n", 0, "this install-config has no hosts"),
            ("apiVersion: v1\ninterfaces: []\n", 0, "missing `kind` [kind-missing]"),
            ("apiversion: v1\nkind: ConfigMap\n", 0, "should be \"apiVersion\" [key-case]"),
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

//! Recognises the kind of a file by its content.

use super::found::{Found, UNUSED_FILE};
use super::manifest::{Manifest, is_full};
use super::{
    acm_policy, agent_config, bare_metal_host, cluster_instance, install_config, machine_config,
    network_config, nmstate_config, node_network_state, policy, secret,
};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use crate::document::nested::{dialect_fault, parse_stream};
use crate::document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, document_size};
use crate::document::{self, Document, Node};
use crate::source::host::Host;
use crate::text::Source;

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
    let is_manifest = beginning
        .windows(API_VERSION.len())
        .any(|window| window.eq_ignore_ascii_case(API_VERSION.as_bytes()));
    if is_manifest { MAX_FLEET_BYTES } else { MAX_DOCUMENT_BYTES }
}

/// True for a file of any kind but NMState. Files without a key of the other kinds are not parsed for that.
pub(super) fn is_of_fleet(source: &Source) -> bool {
    let mentions = |key: &str| memchr::memmem::find(source.text.as_bytes(), key.as_bytes());
    let mentions_any = [API_VERSION, network_config::KEY].iter().any(|key| mentions(key).is_some());
    let is_other =
        |document: &Document<'_>| kind(&document.root, word(&document.root)) != Kind::State;
    mentions_any && parse_stream(source).iter().flatten().any(is_other)
}

/// The hosts of a file. An NMState document is alone in its file, and belongs to the host `name`;
/// other kinds may repeat.
pub(super) fn load(source: &Source, name: Option<&str>, found: &mut Found) {
    let (before, faults) = (found.count(), found.loaded.diagnostics.len());
    let mut documents = parse_stream(source);
    let roots = || documents.iter().flatten().map(|document| &document.root);
    let kinds = || roots().map(|root| kind(root, word(root)));
    let is_state = kinds().all(|kind| kind == Kind::State) && kinds().next().is_some();
    if is_state {
        let document = if documents.len() == 1 { documents.pop() } else { None };
        found.loaded.add(state(source, name, document));
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
        // A single section would hide other documents in the file.
        Some(Ok(document)) if document.source().text.len() == source.text.len() => {
            match dialect_fault(&document) {
                Some(fault) => return Err(Diagnostics::from(fault)),
                None => document,
            }
        }
        _ => document::parse(source)?,
    };
    let host = Host::new(name.map(str::to_owned), place);
    Ok(Host { document: Some(document.into_owned()), ..host })
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
    let word = word(node).map(str::to_owned);
    let kind = match (kind(node, word.as_deref()), of) {
        (Kind::State | Kind::Manifest(""), Some(of)) => Kind::Manifest(of),
        (kind, _) => kind,
    };
    let mut diagnostics = Diagnostics::default();
    let mut manifest = Manifest::new(document, &mut diagnostics);
    if !matches!(kind, Kind::State | Kind::NetworkConfig) {
        manifest.get(node, API_VERSION);
        manifest.get(node, "kind");
    }
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

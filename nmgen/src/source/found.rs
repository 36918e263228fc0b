//! What the sources hold, and the names that lead from one to the other: a BareMetalHost gives the name of
//! a Secret, which may stand in another file.

use super::{CLUSTER, HOST_NAME, Host, Hosts, SECRET_REFERENCE, Stage};
use crate::diagnostic::{Diagnostic, Place};
use crate::document::Document;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) loaded: Hosts,
    /// Secrets with and without a document.
    pub(super) secrets: Vec<Secret>,
    pub(super) references: Vec<Reference>,
    /// What to say of files without hosts, unless another one has some.
    pub(super) without_hosts: Vec<Diagnostic>,
    /// How many bytes were decompressed.
    pub(super) unpacked: usize,
}

/// A Kubernetes Secret.
#[derive(Debug)]
pub(super) struct Secret {
    pub(super) name: Name,
    pub(super) place: Place,
    pub(super) content: Content,
    /// How many hosts were found before it.
    pub(super) position: usize,
}

/// What stands under the key `nmstate`.
#[derive(Debug)]
pub(super) enum Content {
    Document(Document<'static>),
    /// It is not a document; the diagnostics say why.
    Faulty,
    /// The key is missing.
    Nothing,
}

/// A host that takes its document from a Secret.
#[derive(Debug)]
pub(super) struct Reference {
    /// Its index among the hosts.
    pub(super) host: usize,
    pub(super) secret: Name,
    pub(super) place: Place,
}

/// A name in a namespace, which may be left to the command that applies the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
}

impl Name {
    fn is(&self, other: &Self) -> bool {
        let either_is_open = self.namespace.is_none() || other.namespace.is_none();
        self.name == other.name && (either_is_open || self.namespace == other.namespace)
    }
}

impl Found {
    /// How much of use was found.
    pub(super) fn count(&self) -> usize {
        let secrets = self.secrets.iter().filter(|s| !matches!(s.content, Content::Nothing));
        self.loaded.hosts.len() + self.without_hosts.len() + secrets.count()
    }

    /// Every host with its document.
    pub(super) fn into_hosts(mut self) -> Hosts {
        let used = self.join();
        let rest = self.secrets.into_iter().zip(used).filter(|(_, is_used)| !is_used);
        let mut rest: Vec<Secret> = rest.map(|(secret, _)| secret).collect();
        // From the last one on, so that the positions of the others stay right.
        while let Some(secret) = rest.pop() {
            let position = secret.position;
            if let Some(host) = host(secret) {
                self.loaded.hosts.insert(position, host);
            }
        }
        let hosts = &mut self.loaded;
        if hosts.hosts.is_empty() {
            hosts.diagnostics.append(&mut self.without_hosts);
        }
        let diagnostics = &mut hosts.diagnostics;
        hosts.hosts.retain(|host| {
            let fault = name_fault(host);
            diagnostics.extend(fault.clone());
            fault.is_none()
        });
        self.loaded
    }

    /// Gives hosts the documents of their Secrets, and tells which Secrets those were.
    fn join(&mut self) -> Vec<bool> {
        let mut used = vec![false; self.secrets.len()];
        for Reference { host, secret: name, place } in &self.references {
            // Of two, the last one is what applying them in this order leaves.
            let found = self.secrets.iter().rposition(|secret| secret.name.is(name));
            let problem = match found.map(|index| (&self.secrets[index].content, index)) {
                Some((Content::Document(document), index)) => {
                    used[index] = true;
                    self.loaded.hosts[*host].document = Some(document.clone());
                    continue;
                }
                Some((Content::Faulty, _)) => continue,
                Some((Content::Nothing, _)) => "has no key nmstate",
                None => "is in none of the sources",
            };
            let message = format!("the Secret {} {problem}", name.name.escape_debug());
            self.loaded.diagnostics.push(
                Diagnostic::new(SECRET_REFERENCE, message, place.clone())
                    .help("the host's network is in it; give the file with the Secret too"),
            );
        }
        used
    }
}

/// The host of a Secret to which no BareMetalHost refers.
fn host(secret: Secret) -> Option<Host> {
    let Content::Document(document) = secret.content else { return None };
    let name = secret.name.name;
    // The installer's name for the Secret of a host.
    let name = name.strip_suffix("-network-config-secret").unwrap_or(&name).to_owned();
    let host = Host::new(Some(name), secret.place);
    Some(Host { stage: Stage::Early, document: Some(document), ..host })
}

/// A host's name becomes a directory or a file of the output.
fn name_fault(host: &Host) -> Option<Diagnostic> {
    let name = host.name.as_deref()?;
    let (message, help) = if host.is_cluster() && host.stage == Stage::Early {
        let help = "cluster.yml is what nodes take that have no document of their own";
        (format!("a host cannot be called {CLUSTER}"), help)
    } else if !is_usable_name(name) {
        let help = "letters, digits and hyphens (RFC 1123)";
        (format!("\"{}\" is not a host name", name.escape_debug()), help)
    } else {
        return None;
    };
    Some(Diagnostic::new(HOST_NAME, message, host.place.clone()).help(help))
}

/// Safe as a name of a file, and not hidden; some names of hosts in use are no better.
pub(super) fn is_usable_name(name: &str) -> bool {
    (1..=253).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_'))
        && !name.starts_with('.')
}

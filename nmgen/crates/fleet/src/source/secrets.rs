//! Secrets with documents, and the hosts that they are of: a BareMetalHost names a Secret, which may be in another file.

use std::collections::HashMap;

use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::nested::unpacked_size;
use nmgen_document::size::MAX_FLEET_BYTES;
use nmgen_document::{Document, spelling};

use super::found_host::{FoundHost, HostSecret};
use super::manifest::Name;
use super::origin::Origin;
use super::unread;

rules! {
    warning SECRET_REFERENCE = "secret-reference";
    warning SECRET_NOT_REFERENCED = "secret-not-referenced";
}

/// The Secrets found so far, with and without a document.
#[derive(Debug, Default)]
pub(super) struct HostSecrets {
    all: Vec<Secret>,
    documents: usize,
}

#[derive(Debug)]
pub(super) struct Secret {
    pub(super) name: Name,
    pub(super) place: Place,
    pub(super) content: Content,
    /// Another key that has a document, and its place.
    pub(super) unread: Option<(String, Place)>,
    /// The number of hosts found before it.
    pub(super) position: usize,
    pub(super) origin: Origin,
}

/// The value of the key `nmstate`.
#[derive(Debug)]
pub(super) enum Content {
    Document(Document<'static>),
    /// Not a document; the diagnostics give the reason.
    Faulty,
    /// The key is missing.
    Nothing,
}

impl HostSecrets {
    pub(super) fn add(&mut self, secret: Secret) {
        let has_document = !matches!(secret.content, Content::Nothing) || secret.unread.is_some();
        self.documents += usize::from(has_document);
        self.all.push(secret);
    }

    /// The number of Secrets with the key `nmstate`, parsable or not, or with a document under another one.
    pub(super) fn documents(&self) -> usize {
        self.documents
    }

    /// Returns the hosts with the documents of their Secrets, and a host for each document that is no other host's. `unpacked`: the
    /// bytes of documents so far in excess of the files' own.
    pub(super) fn joined(
        self,
        mut hosts: Vec<FoundHost>,
        unpacked: usize,
        diagnostics: &mut Diagnostics,
    ) -> Vec<FoundHost> {
        let mut used = vec![false; self.all.len()];
        let index = Index::new(&self.all);
        self.join_referred(&mut hosts, &index, unpacked, &mut used, diagnostics);
        self.join_unreferred(&mut hosts, &index, &mut used, diagnostics);
        let rest = self.all.into_iter().zip(used).filter(|(_, is_used)| !is_used);
        let mut rest =
            rest.filter_map(|(secret, _)| Some((secret.position, of_secret(secret)?))).peekable();
        let mut joined = Vec::with_capacity(hosts.len());
        for (index, host) in hosts.into_iter().enumerate() {
            while let Some((_, before)) = rest.next_if(|(position, _)| *position <= index) {
                joined.push(before);
            }
            joined.push(host);
        }
        joined.extend(rest.map(|(_, host)| host));
        joined
    }

    /// Gives hosts the documents of the Secrets that they refer to.
    fn join_referred(
        &self,
        hosts: &mut [FoundHost],
        index: &Index<'_>,
        mut unpacked: usize,
        used: &mut [bool],
        diagnostics: &mut Diagnostics,
    ) {
        let mut wanted = vec![false; self.all.len()];
        for FoundHost { host, origin, secret, .. } in hosts {
            let Some(HostSecret::Referred { secret: name, place }) = secret else { continue };
            host.network = HostNetwork::Unreadable;
            let found = index.find(name, &origin.directory);
            let elsewhere = index.anywhere.get(name.name.as_str()).filter(|_| found.is_none());
            if let Some(elsewhere) = elsewhere {
                diagnostics.push(in_another_namespace(name, &self.all[*elsewhere], place));
            }
            let found = found.or(elsewhere.copied());
            let (problem, help) = match found.map(|index| (&self.all[index].content, index)) {
                Some((Content::Document(document), index)) => {
                    // One Secret may serve many hosts.
                    unpacked += document.text().len();
                    if unpacked > MAX_FLEET_BYTES {
                        diagnostics.push(unpacked_size(place.clone()));
                        break;
                    }
                    used[index] = true;
                    host.network = HostNetwork::Written(document.clone());
                    continue;
                }
                Some((Content::Faulty, _)) => continue,
                Some((Content::Nothing, index)) if self.all[index].unread.is_some() => {
                    wanted[index] = true;
                    continue;
                }
                Some((Content::Nothing, _)) => {
                    ("has no key nmstate", "OpenShift reads the host's network from this key")
                }
                None => (
                    "is in none of the sources",
                    "the host's network is in it: give the file with the Secret too",
                ),
            };
            let help = match meant(&self.all, name).filter(|_| found.is_none()) {
                Some(meant) => meant,
                None => help.to_owned(),
            };
            let message = format!("the Secret {} {problem}", name.name.escape_debug());
            diagnostics.add(SECRET_REFERENCE, place.clone(), message, help);
        }
        for (secret, is_wanted) in self.all.iter().zip(wanted) {
            let told = secret.unread.clone();
            let told = told.map(|(key, place)| unread::in_secret(&key, place, is_wanted));
            diagnostics.extend(told);
        }
    }

    /// Tells of BareMetalHosts whose Secret nothing refers to, and judges its document as theirs.
    fn join_unreferred(
        &self,
        hosts: &mut [FoundHost],
        index: &Index<'_>,
        used: &mut [bool],
        diagnostics: &mut Diagnostics,
    ) {
        for FoundHost { host, origin, secret, .. } in hosts {
            let Some(HostSecret::Unreferred { secrets, place }) = secret else { continue };
            let mut found = secrets.iter().filter_map(|name| index.find(name, &origin.directory));
            let document = found.find_map(|secret| match &self.all[secret].content {
                Content::Document(document) if !used[secret] => Some((secret, document)),
                Content::Document(_) | Content::Faulty | Content::Nothing => None,
            });
            let Some((secret, document)) = document else { continue };
            used[secret] = true;
            host.network = HostNetwork::Written(document.clone());
            let name = self.all[secret].name.name.escape_debug();
            let message = format!(
                "nothing refers to the Secret {name}: metal3 hands its network to no ramdisk, and the machine boots by DHCP"
            );
            let help = format!(
                "add preprovisioningNetworkDataName: {name} to the spec; networkData is for the installed system"
            );
            diagnostics.add(SECRET_NOT_REFERENCED, place.clone(), message, help);
        }
    }
}

/// The host of a Secret that no BareMetalHost refers to.
fn of_secret(secret: Secret) -> Option<FoundHost> {
    let Content::Document(document) = secret.content else { return None };
    let name = secret.name.name;
    // The installer's name for a host's Secret.
    let name = name.strip_suffix("-network-config-secret").unwrap_or(&name).to_owned();
    let host = Host::new(Some(name), secret.place);
    let network = HostNetwork::Written(document);
    Some(FoundHost::new(Host { stage: Stage::Early, network, ..host }, secret.origin))
}

/// A host finds Secrets of its own namespace alone (metal3-io/baremetal-operator,
/// `internal/controller/metal3.io/host_config_data.go`). A tool may still put both into one.
fn in_another_namespace(name: &Name, secret: &Secret, place: &Place) -> Diagnostic {
    let shown = |namespace: &Option<String>| match namespace {
        Some(namespace) => namespace.escape_debug().to_string(),
        None => "default".to_owned(),
    };
    let message = format!(
        "the Secret {} is in the namespace {} ({}), the host in {}",
        name.name.escape_debug(),
        shown(&secret.name.namespace),
        secret.place.shown(),
        shown(&name.namespace)
    );
    let help = "a BareMetalHost finds Secrets of its own namespace alone";
    Diagnostic::new(SECRET_REFERENCE, message, place.clone()).help(help)
}

/// Bounds the search for a misspelt Secret: in a fleet it would cost more than the suggestion is
/// worth.
const MAX_GUESSES: usize = 100;

/// A suggestion for the name of a missing Secret.
fn meant(secrets: &[Secret], name: &Name) -> Option<String> {
    let secrets = secrets.get(..MAX_GUESSES).unwrap_or(secrets);
    let near = secrets.iter().find(|s| spelling::is_alike(&s.name.name, &name.name))?;
    Some(format!("did you mean \"{}\"?", near.name.name.escape_debug()))
}

/// Secrets by name. The last of two with the same name wins, as if applied in order.
struct Index<'s> {
    in_namespace: HashMap<(Option<&'s str>, &'s str), usize>,
    in_directory: HashMap<(Option<&'s str>, &'s str, &'s str), usize>,
    anywhere: HashMap<&'s str, usize>,
}

impl<'s> Index<'s> {
    fn new(secrets: &'s [Secret]) -> Self {
        let names = || secrets.iter().map(|secret| &secret.name).enumerate();
        let full = |name: &'s Name| (name.namespace.as_deref(), name.name.as_str());
        let beside = |(index, secret): (usize, &'s Secret)| {
            let (namespace, name) = full(&secret.name);
            ((namespace, &*secret.origin.directory, name), index)
        };
        Self {
            in_namespace: names().map(|(index, name)| (full(name), index)).collect(),
            in_directory: secrets.iter().enumerate().map(beside).collect(),
            anywhere: names().map(|(index, name)| (name.name.as_str(), index)).collect(),
        }
    }

    /// Without a namespace, match in all; two directories may have Secrets of one name, for two clusters.
    fn find(&self, name: &Name, directory: &str) -> Option<usize> {
        let beside =
            |namespace| self.in_directory.get(&(namespace, directory, name.name.as_str())).copied();
        let Some(namespace) = name.namespace.as_deref() else {
            let here = beside(None);
            return here.or_else(|| self.anywhere.get(name.name.as_str()).copied());
        };
        let own = |namespace| self.in_namespace.get(&(namespace, name.name.as_str())).copied();
        let here = beside(Some(namespace)).max(beside(None));
        here.or_else(|| own(Some(namespace)).max(own(None)))
    }
}

#[cfg(test)]
mod tests {
    use nmgen_document::text::Source;

    use super::*;
    use crate::source::{found::Found, hosts::Hosts};

    const DOCUMENT: &str = "interfaces: [{name: eno1, type: ethernet}]";

    /// A Secret with a document, behind this number of hosts.
    fn secret(namespace: Option<&str>, name: &str, position: usize) -> Secret {
        let source = Source { name: "".into(), text: DOCUMENT.into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        Secret {
            name: self::name(namespace, name),
            place: Place::file("a.yaml"),
            content: Content::Document(document.into_owned()),
            unread: None,
            position,
            origin: Origin::default(),
        }
    }

    fn name(namespace: Option<&str>, name: &str) -> Name {
        Name { namespace: namespace.map(str::to_owned), name: name.to_owned() }
    }

    #[test]
    fn a_secret_of_no_host_is_a_host_at_its_place_among_the_others() {
        let mut found = Found::default();
        for name in ["a", "d"] {
            found.add(Host::new(Some(name.to_owned()), Place::file("a.yaml")));
        }
        for (name, position) in [("b-network-config-secret", 1), ("c", 1), ("e", 2)] {
            found.secrets.add(secret(None, name, position));
        }
        let hosts = found.into_hosts().hosts;
        let told = hosts.iter().map(|host| (host.name.as_deref().unwrap_or_default(), host.stage));
        let expected = [
            ("a", Stage::Any),
            ("b", Stage::Early),
            ("c", Stage::Early),
            ("d", Stage::Any),
            ("e", Stage::Early),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_one_secret_gives_to_all_hosts_is_bounded() {
        for (left, expected) in [(1, [true, false, false]), (2, [true, true, false])] {
            let unpacked = MAX_FLEET_BYTES - left * DOCUMENT.len();
            let mut found = Found::default();
            found.unpacked = unpacked;
            found.secrets.add(secret(None, "net", 0));
            for host in 0..3 {
                let host = Host::new(Some(format!("worker-{host}")), Place::file("a.yaml"));
                let (secret, place) = (name(None, "net"), Place::file("a.yaml"));
                found.add_machine(host, None, Some(HostSecret::Referred { secret, place }));
            }
            let Hosts { hosts, diagnostics, .. } = found.into_hosts();
            let are_there: Vec<bool> = hosts.iter().map(|host| host.document().is_some()).collect();
            assert_eq!(are_there, expected);
            let told: Vec<&str> = diagnostics.iter().map(|fault| fault.rule.name).collect();
            assert_eq!(told, ["document-size"]);
        }
    }

    #[test]
    fn the_meant_secret_has_another_name() {
        let secrets = [secret(Some("metal"), "worker-0-net", 0), secret(None, "worker-1-net", 0)];
        let help = |namespace: &str, wanted: &str| meant(&secrets, &name(Some(namespace), wanted));
        let another = Some("did you mean \"worker-0-net\"?".to_owned());
        assert_eq!(help("metal", "worker-0-nte"), another);
        assert_eq!(help("metal", "something-else"), None);
    }
}

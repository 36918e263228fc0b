//! The hosts found in the sources, and references between sources: a BareMetalHost names a Secret,
//! which may be in another file.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use nmgen_core::node::CLUSTER;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::format::counted;
use nmgen_document::nested::{too_many, unpacked_size};
use nmgen_document::size::{MAX_FLEET_BYTES, MAX_HOSTS};
use nmgen_document::template::TEMPLATE;
use nmgen_document::text::Source;
use nmgen_document::{Document, spelling};

use super::cluster::Cluster;
use super::clusters::{self, Draft};
use super::extent::Extent;
use super::hosts::{Hosts, ManagementController};
use super::hosts_directory::{self, NO_HOSTS};
use super::infra_env::InfraEnvs;
use super::manifest::{KEY_MISSPELT, Name};
use super::origin::{Claim, Origin};
use super::os_image::OsImages;
use super::unread;
use crate::allow;

rules! {
    pub(super) warning UNUSED_FILE = "unused-file";
    warning TEMPLATE_UNREAD = "template-unread";
    error HOST_NAME = "host-name";
    warning SECRET_REFERENCE = "secret-reference";
    warning SECRET_NOT_REFERENCED = "secret-not-referenced";
}

/// The hosts and Secrets found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) loaded: Hosts,
    pub(super) extent: Extent,
    /// Files of no use, with the kinds in them.
    unused: Vec<(Place, Vec<String>)>,
    /// Templates in a tree, which are not read.
    templates: Vec<Place>,
    /// Where the present file stands, and what it says of its cluster.
    pub(super) origin: Origin,
    /// By the host's index.
    origins: Vec<Origin>,
    drafts: Vec<Draft>,
    /// By the host's index.
    controllers: Vec<(usize, ManagementController)>,
    /// Secrets with and without a document.
    secrets: Vec<Secret>,
    /// Secrets with the key `nmstate`, parsable or not, or with a document under another one.
    documents: usize,
    pub(super) references: Vec<Reference>,
    /// BareMetalHosts that refer to no Secret.
    pub(super) without_reference: Vec<WithoutReference>,
    pub(super) infra_envs: InfraEnvs,
    pub(super) os_images: OsImages,
    /// Reported only if no other file has hosts.
    pub(super) without_hosts: Diagnostics,
    /// The limit of hosts is exceeded.
    is_full: bool,
    /// The bytes of documents in excess of the files' own.
    pub(super) unpacked: usize,
}

/// Kinds that are compared with what is beside them.
const COMPARED: &[&str] = &["InfraEnv", "MachineConfigPool", "MachineOSConfig"];

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

/// A host whose document is in a Secret.
#[derive(Debug)]
pub(super) struct Reference {
    /// The host's index.
    pub(super) host: usize,
    pub(super) secret: Name,
    pub(super) place: Place,
}

/// A BareMetalHost that refers to no Secret.
#[derive(Debug)]
pub(super) struct WithoutReference {
    /// The host's index.
    pub(super) host: usize,
    /// The host's Secret by the installer's convention, and that of its `networkData`.
    pub(super) secrets: Vec<Name>,
    /// The place of `networkData`, else of the host's name.
    pub(super) place: Place,
}

impl Found {
    /// The number of usable findings.
    pub(super) fn count(&self) -> usize {
        let hardware = self.loaded.hardware.len();
        self.loaded.hosts.len() + hardware + self.without_hosts.len() + self.documents
    }

    /// True if a host that was found behind the first `before` has no network, or none was found.
    pub(super) fn lacks_network(&self, before: usize) -> bool {
        let found = self.loaded.hosts.get(before..).unwrap_or_default();
        found.is_empty() || found.iter().any(|host| host.network == HostNetwork::Missing)
    }

    /// Takes the hosts behind the first `hosts` for misread, and forgets files without hosts behind the first `without`: a key of
    /// their object is in the wrong place.
    pub(super) fn excuse(&mut self, hosts: usize, without: usize) {
        for host in self.loaded.hosts.iter_mut().skip(hosts) {
            if host.network == HostNetwork::Missing {
                host.network = HostNetwork::Unreadable;
            }
        }
        let mut index = 0;
        self.without_hosts.retain(|_| {
            index += 1;
            index <= without
        });
    }

    pub(super) fn add(&mut self, host: Host) {
        let hosts = self.loaded.hosts.len();
        if hosts < MAX_HOSTS {
            self.loaded.hosts.push(host);
            self.origins.push(self.origin.clone());
        } else if !self.is_full {
            self.is_full = true;
            self.loaded.diagnostics.push(too_many(host.place));
        }
    }

    /// Adds the host of a file, or its faults.
    pub(super) fn add_read(&mut self, host: Result<Host, Diagnostics>) {
        if let Some(host) = self.loaded.diagnostics.accept(host) {
            self.add(host);
        }
    }

    /// Keeps the address of the management controller of the host that is added next.
    pub(super) fn add_controller(&mut self, host: &Host, address: Option<(&str, Place)>) {
        let of = self.loaded.hosts.len();
        self.controllers.extend(address.map(|(address, place)| {
            let (host, address) = (host.name.clone(), address.to_owned());
            (of, ManagementController { cluster: None, host, address, place })
        }));
    }

    /// A file's own words about its cluster, to be filled in.
    pub(super) fn describe(&mut self, place: Place) -> &mut Cluster {
        let (cluster, origin) = (Cluster::default(), self.origin.clone());
        // The draft is there, since it was pushed.
        let index = self.drafts.len();
        self.drafts.push(Draft { cluster, origin, place });
        self.origin.describe(index);
        &mut self.drafts[index].cluster
    }

    /// The words of an object of one host, in a namespace of its cluster's name; hosts that join a running cluster are in one of
    /// OpenShift's own.
    pub(super) fn claim_member(&mut self, namespace: Option<&str>, label: Option<&str>) {
        let is_of_cluster =
            |namespace: &&str| !namespace.starts_with("openshift-") && *namespace != "default";
        let namespace = namespace.filter(is_of_cluster).map(str::to_owned);
        let label = label.map(str::to_owned);
        self.origin.claim(match (&namespace, &label) {
            (None, None) => Claim::Nothing,
            _ => Claim::Member { namespace, label },
        });
    }

    /// Keeps a file's comments about findings.
    pub(super) fn allow(&mut self, source: &Source) {
        self.loaded.allowances.extend(allow::read(source));
    }

    /// The number of files without a host.
    pub(super) fn unused(&self) -> usize {
        self.unused.len()
    }

    /// A file that describes no host, with the kinds in it.
    pub(super) fn add_passed_over(&mut self, file: impl Into<Arc<str>>, kinds: Vec<String>) {
        self.unused.push((Place::file(file), kinds));
    }

    /// One line for all of them.
    pub(super) fn unused_file(&self) -> Option<Diagnostic> {
        let is_compared = |kinds: &[String]| {
            !kinds.is_empty() && kinds.iter().all(|kind| COMPARED.contains(&kind.as_str()))
        };
        let has_hosts = !self.loaded.hosts.is_empty();
        let unused = self.unused.iter().filter(|(_, kinds)| !(has_hosts && is_compared(kinds)));
        let unused: Vec<&(Place, Vec<String>)> = unused.collect();
        let (place, _) = unused.first()?;
        let kinds: BTreeSet<&str> =
            unused.iter().flat_map(|(_, kinds)| kinds).map(String::as_str).collect();
        let mut message = match unused.len() {
            1 => "nothing here describes a host's network".to_owned(),
            2 => "this file and another describe no host's network".to_owned(),
            count => format!("this file and {} others describe no host's network", count - 1),
        };
        if let Some(first) = kinds.first() {
            let others = if kinds.len() > 1 { " and other kinds" } else { "" };
            let only = if unused.iter().all(|(_, kinds)| !kinds.is_empty()) { " only" } else { "" };
            message += &format!(": {}{others}{only}", first.escape_debug());
        }
        let help = "`nmgen check --help` lists the kinds of files that do";
        Some(Diagnostic::new(UNUSED_FILE, message, place.clone()).help(help))
    }

    /// In a tree that is checked, templates are other programs' input: one line for all of them.
    fn fold_templates(&mut self) {
        if self.extent != Extent::Checked || !self.origin.is_directory {
            return;
        }
        let mut places: Vec<Place> = Vec::new();
        self.loaded.diagnostics.retain(|found| {
            let is_template = found.rule == TEMPLATE;
            if is_template && places.iter().all(|place| place.file != found.place.file) {
                places.push(found.place.clone());
            }
            !is_template
        });
        self.templates.extend(places);
    }

    fn template_unread(&self) -> Option<Diagnostic> {
        let place = self.templates.first()?;
        let message = match self.templates.len() {
            1 => "this is a template: its hosts are not checked".to_owned(),
            count => {
                let others = counted(count - 1, "other file");
                format!("this is a template, as {others}: their hosts are not checked")
            }
        };
        let help = "render it first, with `helm template` for example, and check the result";
        Some(Diagnostic::new(TEMPLATE_UNREAD, message, place.clone()).help(help))
    }

    pub(super) fn add_secret(&mut self, secret: Secret) {
        let has_document = !matches!(secret.content, Content::Nothing) || secret.unread.is_some();
        self.documents += usize::from(has_document);
        self.secrets.push(secret);
    }

    /// Every host with its document.
    pub(super) fn into_hosts(mut self) -> Hosts {
        self.fold_templates();
        let told = [self.unused_file(), self.template_unread()];
        let mut used = self.join();
        self.join_unreferenced(&mut used);
        self.loaded.diagnostics.extend(self.infra_envs.unselected());
        let controllers = std::mem::take(&mut self.controllers);
        let mut of_controllers = controllers.into_iter().peekable();
        let mut controllers = Vec::new();
        let rest = self.secrets.into_iter().zip(used).filter(|(_, is_used)| !is_used);
        let mut rest = rest.map(|(secret, _)| secret).peekable();
        let (mut hosts, mut origins) = (Vec::with_capacity(self.loaded.hosts.len()), Vec::new());
        let mut add = |(host, origin): (Host, Origin)| {
            hosts.push(host);
            origins.push(origin);
            hosts.len() - 1
        };
        for (index, host) in self.loaded.hosts.into_iter().zip(self.origins).enumerate() {
            while let Some(secret) = rest.next_if(|secret| secret.position <= index) {
                of_secret(secret).map(&mut add);
            }
            let place = add(host);
            while let Some((_, controller)) = of_controllers.next_if(|(of, _)| *of <= index) {
                controllers.push((place, controller));
            }
        }
        for secret in rest {
            of_secret(secret).map(&mut add);
        }
        let clusters = clusters::resolve(&hosts, &origins, self.drafts);
        for (host, of) in hosts.iter_mut().zip(&clusters.of_hosts) {
            host.cluster.clone_from(&clusters.clusters[*of].name);
        }
        let named = |(host, controller): (usize, ManagementController)| ManagementController {
            cluster: hosts.get(host).and_then(|host: &Host| host.cluster.clone()),
            ..controller
        };
        let management_controllers = controllers.into_iter().map(named).collect();
        only_role(&mut hosts, &clusters.clusters, &clusters.of_hosts);
        let mut diagnostics = self.loaded.diagnostics;
        diagnostics.extend(clusters.twice);
        diagnostics.extend(self.os_images.refused(clusters.clusters.len() < 2));
        diagnostics.extend(told.into_iter().flatten());
        if hosts.is_empty() {
            let without = without_hosts(self.without_hosts, &mut diagnostics);
            diagnostics.extend(without);
            if self.extent != Extent::Checked {
                diagnostics.extend(nothing(&diagnostics));
            }
        }
        let states = without_captured(&mut hosts);
        hosts.retain(|host| {
            let fault = name_fault(host);
            let is_usable = fault.is_none();
            diagnostics.extend(fault);
            is_usable
        });
        let (clusters, allowances) = (clusters.clusters, self.loaded.allowances);
        let (hardware, machine_configs) = (self.loaded.hardware, self.loaded.machine_configs);
        Hosts {
            hosts,
            management_controllers,
            hardware,
            states,
            machine_configs,
            clusters,
            diagnostics,
            allowances,
            is_part: false,
        }
    }

    /// Gives hosts the documents of their Secrets; returns which Secrets are used.
    fn join(&mut self) -> Vec<bool> {
        let mut used = vec![false; self.secrets.len()];
        let mut wanted = vec![false; self.secrets.len()];
        let index = Index::new(&self.secrets);
        for Reference { host, secret: name, place } in &self.references {
            let origin = self.origins.get(*host);
            let Some(host) = self.loaded.hosts.get_mut(*host) else { continue };
            host.network = HostNetwork::Unreadable;
            let found =
                index.find(name, origin.map(|origin| &*origin.directory).unwrap_or_default());
            let elsewhere = index.anywhere.get(name.name.as_str()).filter(|_| found.is_none());
            if let Some(elsewhere) = elsewhere {
                let told = in_another_namespace(name, &self.secrets[*elsewhere], place);
                self.loaded.diagnostics.push(told);
            }
            let found = found.or(elsewhere.copied());
            let (problem, help) = match found.map(|index| (&self.secrets[index].content, index)) {
                Some((Content::Document(document), index)) => {
                    // One Secret may serve many hosts.
                    self.unpacked += document.text().len();
                    if self.unpacked > MAX_FLEET_BYTES {
                        self.loaded.diagnostics.push(unpacked_size(place.clone()));
                        break;
                    }
                    used[index] = true;
                    host.network = HostNetwork::Written(document.clone());
                    continue;
                }
                Some((Content::Faulty, _)) => continue,
                Some((Content::Nothing, index)) if self.secrets[index].unread.is_some() => {
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
            let help = match meant(&self.secrets, name).filter(|_| found.is_none()) {
                Some(meant) => meant,
                None => help.to_owned(),
            };
            let message = format!("the Secret {} {problem}", name.name.escape_debug());
            self.loaded.diagnostics.add(SECRET_REFERENCE, place.clone(), message, help);
        }
        for (secret, is_wanted) in self.secrets.iter().zip(wanted) {
            let told = secret.unread.clone();
            let told = told.map(|(key, place)| unread::in_secret(&key, place, is_wanted));
            self.loaded.diagnostics.extend(told);
        }
        used
    }
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

impl Found {
    /// Tells of BareMetalHosts whose Secret nothing refers to, and judges its document as theirs.
    fn join_unreferenced(&mut self, used: &mut [bool]) {
        let index = Index::new(&self.secrets);
        for WithoutReference { host, secrets, place } in &self.without_reference {
            let directory =
                self.origins.get(*host).map(|origin| &*origin.directory).unwrap_or_default();
            let mut found = secrets.iter().filter_map(|name| index.find(name, directory));
            let document = found.find_map(|secret| match &self.secrets[secret].content {
                Content::Document(document) if !used[secret] => Some((secret, document)),
                Content::Document(_) | Content::Faulty | Content::Nothing => None,
            });
            let (Some((secret, document)), Some(host)) =
                (document, self.loaded.hosts.get_mut(*host))
            else {
                continue;
            };
            used[secret] = true;
            host.network = HostNetwork::Written(document.clone());
            let name = &self.secrets[secret].name.name;
            let message = format!(
                "nothing refers to the Secret {}: metal3 hands its network to no ramdisk, and the machine boots by DHCP",
                name.escape_debug()
            );
            let help = format!(
                "add preprovisioningNetworkDataName: {} to the spec; networkData is for the installed system",
                name.escape_debug()
            );
            let told = Diagnostic::new(SECRET_NOT_REFERENCED, message, place.clone()).help(help);
            self.loaded.diagnostics.push(told);
        }
    }
}

/// The findings about files without hosts. Where a misspelt key is the reason it alone is told, and once.
fn without_hosts(mut without: Diagnostics, others: &mut Diagnostics) -> Diagnostics {
    // An agent-config's is an error.
    let is_misspelt = |other: &Diagnostic| other.rule.name == KEY_MISSPELT.name;
    let has_reason = |finding: &Diagnostic| {
        others.iter().any(|other| is_misspelt(other) && other.place == finding.place)
    };
    if without.iter().any(has_reason) {
        without.retain(has_reason);
        others.retain(|other| {
            !is_misspelt(other) || without.iter().all(|told| told.place != other.place)
        });
    }
    without
}

/// Unused files are warnings; if all files are unused, it is an error.
fn nothing(diagnostics: &Diagnostics) -> Option<Diagnostic> {
    let unused = diagnostics.iter().find(|found| found.rule == UNUSED_FILE)?;
    let place = Place::file(unused.place.file.clone());
    let message = "no source describes a host's network";
    let is_told = diagnostics.has_errors();
    (!is_told).then(|| Diagnostic::new(NO_HOSTS, message, place))
}

/// If an install-config has machines of one role only, as for a single node, every host of the cluster has that role.
fn only_role(hosts: &mut [Host], clusters: &[Cluster], of_hosts: &[usize]) {
    for (host, of) in hosts.iter_mut().zip(of_hosts) {
        let mut wanted = clusters[*of].replicas.iter().filter(|replicas| replicas.count > 0);
        if let (Some(only), None) = (wanted.next(), wanted.next())
            && host.is_machine
            && host.role.is_none()
        {
            host.role = Some(only.role.clone());
        }
    }
}

/// Takes out the state of each node for which somebody has written a document: a fact about the node, and no second document.
fn without_captured(hosts: &mut Vec<Host>) -> Vec<Host> {
    let is_captured = |host: &Host| matches!(host.network, HostNetwork::Captured(_));
    if !hosts.iter().any(is_captured) {
        return Vec::new();
    }
    let written = hosts.iter().filter(|host| matches!(host.network, HostNetwork::Written(_)));
    let written: BTreeSet<String> =
        written.filter_map(Host::short_name).map(str::to_owned).collect();
    let is_fact = |host: &mut Host| {
        is_captured(host)
            && host.short_name().is_some_and(|short_name| written.contains(short_name))
    };
    hosts.extract_if(.., is_fact).collect()
}

/// The host of a Secret that no BareMetalHost refers to.
fn of_secret(secret: Secret) -> Option<(Host, Origin)> {
    let Content::Document(document) = secret.content else { return None };
    let name = secret.name.name;
    // The installer's name for a host's Secret.
    let name = name.strip_suffix("-network-config-secret").unwrap_or(&name).to_owned();
    let host = Host::new(Some(name), secret.place);
    let network = HostNetwork::Written(document);
    Some((Host { stage: Stage::Early, network, ..host }, secret.origin))
}

/// The fault of a host's name, which becomes a directory or file name of the output.
fn name_fault(host: &Host) -> Option<Diagnostic> {
    let name = host.name.as_deref()?;
    let (message, help) = if host.is_cluster() && host.stage == Stage::Early {
        let help = "cluster.yml is for nodes without their own document";
        (format!("a host cannot be called {CLUSTER}"), help)
    } else if !hosts_directory::is_usable_name(name) {
        (format!("\"{}\" is not a host name", name.escape_debug()), hosts_directory::NAME_HELP)
    } else {
        return None;
    };
    Some(Diagnostic::new(HOST_NAME, message, host.place.clone()).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_beyond_the_limit_are_told_once() {
        let mut found = Found::default();
        for _ in 0..MAX_HOSTS {
            found.add(Host::new(None, Place::file("a.yaml")));
        }
        assert!(found.loaded.diagnostics.is_empty());
        for _ in 0..2 {
            found.add(Host::new(None, Place::file("a.yaml")));
        }
        assert_eq!((found.loaded.hosts.len(), found.loaded.diagnostics.len()), (MAX_HOSTS, 1));
    }

    const DOCUMENT: &str = "interfaces: [{name: eno1, type: ethernet}]";

    /// A Secret with a document, behind this number of hosts.
    fn secret(namespace: Option<&str>, name: &str, position: usize) -> Secret {
        let source = nmgen_document::text::Source { name: "".into(), text: DOCUMENT.into() };
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
            found.add_secret(secret(None, name, position));
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
            let mut found = Found { unpacked, ..Found::default() };
            found.add_secret(secret(None, "net", 0));
            for host in 0..3 {
                found.add(Host::new(Some(format!("worker-{host}")), Place::file("a.yaml")));
                let (secret, place) = (name(None, "net"), Place::file("a.yaml"));
                found.references.push(Reference { host, secret, place });
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

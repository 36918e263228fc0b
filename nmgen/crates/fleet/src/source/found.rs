//! The hosts found in the sources.

use std::collections::BTreeSet;
use std::sync::Arc;

use nmgen_core::node::CLUSTER;
use nmgen_core::source::{Host, HostNetwork, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, rules};
use nmgen_document::format::counted;
use nmgen_document::nested::too_many;
use nmgen_document::size::MAX_HOSTS;
use nmgen_document::template::TEMPLATE;
use nmgen_document::text::Source;

use super::cluster::Cluster;
use super::clusters::{self, Draft};
use super::extent::Extent;
use super::found_host::{FoundHost, HostSecret};
use super::hosts::{Hardware, Hosts, MachineConfig, ManagementController};
use super::hosts_directory::{self, NO_HOSTS};
use super::infra_env::InfraEnvs;
use super::manifest::KEY_MISSPELT;
use super::origin::{Claim, Origin};
use super::os_image::OsImages;
use super::secrets::HostSecrets;
use crate::allow::{self, Allowance};

rules! {
    pub(super) warning UNUSED_FILE = "unused-file";
    warning TEMPLATE_UNREAD = "template-unread";
    error HOST_NAME = "host-name";
}

/// The hosts and Secrets found so far.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) hosts: Vec<FoundHost>,
    pub(super) hardware: Vec<Hardware>,
    pub(super) machine_configs: Vec<MachineConfig>,
    pub(super) diagnostics: Diagnostics,
    allowances: Vec<Allowance>,
    pub(super) extent: Extent,
    /// Files of no use, with the kinds in them.
    unused: Vec<(Place, Vec<String>)>,
    /// Templates in a tree, which are not read.
    templates: Vec<Place>,
    /// Where the present file stands, and what it says of its cluster.
    pub(super) origin: Origin,
    drafts: Vec<Draft>,
    pub(super) secrets: HostSecrets,
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

impl Found {
    /// The number of usable findings.
    pub(super) fn count(&self) -> usize {
        let hardware = self.hardware.len();
        self.hosts.len() + hardware + self.without_hosts.len() + self.secrets.documents()
    }

    /// True if a host that was found behind the first `before` has no network, or none was found.
    pub(super) fn lacks_network(&self, before: usize) -> bool {
        let found = self.hosts.get(before..).unwrap_or_default();
        found.is_empty() || found.iter().any(|found| found.host.network == HostNetwork::Missing)
    }

    /// Takes the hosts behind the first `hosts` for misread, and forgets files without hosts behind the first `without`: a key of
    /// their object is in the wrong place.
    pub(super) fn excuse(&mut self, hosts: usize, without: usize) {
        for FoundHost { host, .. } in self.hosts.iter_mut().skip(hosts) {
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
        self.add_machine(host, None, None);
    }

    /// Adds a host with the address of its management controller, and the Secret with its document.
    pub(super) fn add_machine(
        &mut self,
        host: Host,
        controller: Option<(&str, Place)>,
        secret: Option<HostSecret>,
    ) {
        if self.hosts.len() < MAX_HOSTS {
            let controller = controller.map(|(address, place)| (address.to_owned(), place));
            self.hosts.push(FoundHost { host, origin: self.origin.clone(), secret, controller });
        } else if !self.is_full {
            self.is_full = true;
            self.diagnostics.push(too_many(host.place));
        }
    }

    /// Adds the host of a file, or its faults.
    pub(super) fn add_read(&mut self, host: Result<Host, Diagnostics>) {
        if let Some(host) = self.diagnostics.accept(host) {
            self.add(host);
        }
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
        self.allowances.extend(allow::read(source));
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
        let has_hosts = !self.hosts.is_empty();
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
        self.diagnostics.retain(|found| {
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

    /// Every host with its document.
    pub(super) fn into_hosts(mut self) -> Hosts {
        self.fold_templates();
        let told = [self.unused_file(), self.template_unread()];
        let mut diagnostics = self.diagnostics;
        let found = self.secrets.joined(self.hosts, self.unpacked, &mut diagnostics);
        diagnostics.extend(self.infra_envs.unselected());
        let clusters = clusters::resolve(&found, self.drafts);
        let (mut hosts, mut management_controllers) = (Vec::with_capacity(found.len()), Vec::new());
        for (FoundHost { mut host, controller, .. }, of) in found.into_iter().zip(clusters.of_hosts)
        {
            let cluster = &clusters.clusters[of];
            host.cluster.clone_from(&cluster.name);
            if host.is_machine && host.role.is_none() {
                host.role = only_role(cluster).map(str::to_owned);
            }
            management_controllers.extend(controller.map(|(address, place)| {
                let (cluster, host) = (host.cluster.clone(), host.name.clone());
                ManagementController { cluster, host, address, place }
            }));
            hosts.push(host);
        }
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
        Hosts {
            hosts,
            management_controllers,
            hardware: self.hardware,
            states,
            machine_configs: self.machine_configs,
            clusters: clusters.clusters,
            diagnostics,
            allowances: self.allowances,
            is_part: false,
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

/// The role of every host of a cluster whose install-config has machines of one role only, as for a single node.
fn only_role(cluster: &Cluster) -> Option<&str> {
    let mut wanted = cluster.replicas.iter().filter(|replicas| replicas.count > 0);
    let only = wanted.next().filter(|_| wanted.next().is_none());
    only.map(|only| only.role.as_str())
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
        assert!(found.diagnostics.is_empty());
        for _ in 0..2 {
            found.add(Host::new(None, Place::file("a.yaml")));
        }
        assert_eq!((found.hosts.len(), found.diagnostics.len()), (MAX_HOSTS, 1));
    }
}

//! The choice of hosts; forms for a single host.

use std::collections::{BTreeSet, HashMap, HashSet};

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostics, Place, rules};
use nmgen_document::pattern;

use crate::convert::{Converted, Outcome};
use crate::missing_host::{few, no_such_host};
use crate::source::{Cluster, Hosts, directory_of};

rules! {
    error NO_SUCH_CLUSTER = "no-such-cluster";
    error ONE_HOST_ONLY = "one-host-only";
}

/// Reports an error if there are several hosts.
pub(super) fn verify(form: &str, hosts: &[Converted], diagnostics: &mut Diagnostics) {
    if let [_, second, ..] = hosts {
        let message = format!("{form} describes one host; the sources have {}", hosts.len());
        let place = Place::file(second.host.place.file.clone());
        let help = "choose one with `nmgen generate --to gc --host NAME`";
        diagnostics.add(ONE_HOST_ONLY, place, message, help);
    }
}

/// The hosts to keep: all that one of the names and one of the roles fit; an empty list fits all.
#[derive(Debug, Clone, Copy)]
pub struct Selection<'a> {
    /// Names, with or without the domain; patterns of the shell.
    pub hosts: &'a [String],
    /// Roles.
    pub roles: &'a [String],
    /// Names of clusters; patterns of the shell.
    pub clusters: &'a [String],
    /// The sources, for messages.
    pub sources: &'a [String],
}

impl Selection<'_> {
    /// Every host.
    pub const ALL: Self = Self { hosts: &[], roles: &[], clusters: &[], sources: &[] };

    fn is_all(&self) -> bool {
        self.hosts.is_empty() && self.roles.is_empty() && self.clusters.is_empty()
    }

    /// Keeps the selected hosts before they are checked. The numbers of machines are for all of them.
    pub fn keep(&self, loaded: &mut Hosts) {
        if self.is_all() {
            return;
        }
        loaded.is_part = true;
        let hosts: Vec<&Host> = loaded.hosts.iter().collect();
        let is_kept = self.kept(&hosts);
        // A host that is missing may be in what cannot be read.
        if !loaded.diagnostics.has_errors() {
            self.verify(&hosts, &mut loaded.diagnostics);
        }
        retain(&mut loaded.hosts, is_kept);
        if !self.clusters.is_empty() {
            self.keep_clusters(loaded);
        }
        if self.hosts.is_empty() && self.roles.is_empty() {
            return;
        }
        for cluster in &mut loaded.clusters {
            cluster.replicas.clear();
            // With a rendezvous host there is no bootstrap machine.
            if cluster.rendezvous.take().is_some() {
                cluster.bootstrap = None;
            }
        }
    }

    /// Keeps what the sources say of the selected clusters alone.
    fn keep_clusters(&self, loaded: &mut Hosts) {
        let is_kept =
            |name: Option<&str>| self.clusters.iter().any(|cluster| fits_cluster(name, cluster));
        let others = loaded.clusters.extract_if(.., |cluster| !is_kept(cluster.name.as_deref()));
        let others: Vec<Cluster> = others.collect();
        loaded.management_controllers.retain(|controller| is_kept(controller.cluster.as_deref()));
        let kept = &loaded.clusters;
        loaded.diagnostics.retain(|found| {
            let directory = directory_of(&found.place.file);
            let is_of = |cluster: &Cluster| cluster.directories.contains(&*directory);
            kept.iter().any(is_of) || !others.iter().any(is_of)
        });
    }

    /// Keeps the selected hosts of two sets of sources. A name or a role has to fit a host of one of them; a host that changes its
    /// role is kept with both.
    pub fn keep_of_both(&self, old: &mut Hosts, new: &mut Hosts) {
        if self.is_all() {
            return;
        }
        let before: Vec<&Host> = old.hosts.iter().collect();
        let after: Vec<&Host> = new.hosts.iter().collect();
        let (mut of_old, mut of_new) = (self.kept(&before), self.kept(&after));
        self.verify(&[before.as_slice(), &after].concat(), &mut new.diagnostics);
        let (old_names, new_names) = (names(&before, &of_old), names(&after, &of_new));
        also(&before, &mut of_old, |named| new_names.contains(named) && !old_names.contains(named));
        also(&after, &mut of_new, |named| old_names.contains(named) && !new_names.contains(named));
        retain(&mut old.hosts, of_old);
        retain(&mut new.hosts, of_new);
    }

    /// Keeps the selected hosts after all were checked.
    pub(super) fn keep_converted(&self, outcome: &mut Outcome) {
        if self.is_all() {
            return;
        }
        let hosts: Vec<&Host> = outcome.hosts.iter().map(|converted| &converted.host).collect();
        let is_kept = self.kept(&hosts);
        self.verify(&hosts, &mut outcome.diagnostics);
        retain(&mut outcome.hosts, is_kept);
    }

    fn kept(&self, hosts: &[&Host]) -> Vec<bool> {
        // One source may give the role and another the document.
        let id = |host: &Host| (host.cluster.clone(), host.short_name().map(str::to_owned));
        let mut roles: HashMap<_, &str> = HashMap::new();
        for host in hosts {
            if let Some(role) = &host.role {
                roles.insert(id(host), role);
            }
        }
        let is_kept = |host: &&Host| {
            let has_name = self.hosts.is_empty() || self.hosts.iter().any(|name| fits(host, name));
            let role = host.role.as_deref().or_else(|| roles.get(&id(host)).copied());
            let is_role = |wanted: &String| role == Some(wanted.as_str());
            let is_cluster = |wanted: &String| fits_cluster(host.cluster.as_deref(), wanted);
            let is_of = self.clusters.is_empty() || self.clusters.iter().any(is_cluster);
            is_of && has_name && (self.roles.is_empty() || self.roles.iter().any(is_role))
        };
        hosts.iter().map(is_kept).collect()
    }

    /// An error for each name, role and cluster that fits no host.
    fn verify(&self, hosts: &[&Host], diagnostics: &mut Diagnostics) {
        let has =
            |name: &String| hosts.iter().any(|host| fits_cluster(host.cluster.as_deref(), name));
        for name in self.clusters.iter().filter(|name| !has(name)) {
            let message = format!("there is no host of a cluster {}", name.escape_debug());
            let place = Place::file(self.sources.join(" "));
            let clusters: BTreeSet<&str> =
                hosts.iter().filter_map(|host| host.cluster.as_deref()).collect();
            let help = match clusters.is_empty() {
                true => "no cluster here has a name; leave --cluster out".to_owned(),
                false => few(&clusters.into_iter().collect::<Vec<_>>()),
            };
            diagnostics.add(NO_SUCH_CLUSTER, place, message, help);
        }
        for name in self.hosts.iter().filter(|name| !hosts.iter().any(|host| fits(host, name))) {
            self.report(format!("there is no host {name}"), hosts, diagnostics);
        }
        let is_used = |role: &String| hosts.iter().any(|host| host.role.as_ref() == Some(role));
        for name in self.roles.iter().filter(|name| !is_used(name)) {
            self.report(format!("there is no host of role {name}"), hosts, diagnostics);
        }
    }

    fn report(&self, message: String, hosts: &[&Host], diagnostics: &mut Diagnostics) {
        diagnostics.push(no_such_host(message, hosts, self.sources, "leave --host out"));
    }
}

pub(super) fn retain<T>(list: &mut Vec<T>, is_kept: Vec<bool>) {
    let mut is_kept = is_kept.into_iter();
    list.retain(|_| is_kept.next().unwrap_or_default());
}

/// A host's cluster and name.
type Named<'h> = (Option<&'h str>, &'h str);

fn named(host: &Host) -> Option<Named<'_>> {
    Some((host.cluster.as_deref(), host.short_name()?))
}

fn names<'h>(hosts: &[&'h Host], is_kept: &[bool]) -> HashSet<Named<'h>> {
    let kept = hosts.iter().zip(is_kept).filter(|(_, is_kept)| **is_kept);
    kept.filter_map(|(host, _)| named(host)).collect()
}

/// Keeps the hosts of these names too.
fn also(hosts: &[&Host], is_kept: &mut [bool], wanted: impl Fn(&Named<'_>) -> bool) {
    for (host, is_kept) in hosts.iter().zip(is_kept) {
        *is_kept |= named(host).is_some_and(|named| wanted(&named));
    }
}

/// A cluster is known by its name, and by its directory where it has none.
fn fits_cluster(cluster: Option<&str>, pattern: &str) -> bool {
    cluster.is_some_and(|name| pattern::fits(pattern, name))
}

fn fits(host: &Host, pattern: &str) -> bool {
    let is_it = |name: Option<&str>| name.is_some_and(|name| pattern::fits(pattern, name));
    is_it(host.name.as_deref()) || is_it(host.short_name())
}

//! The cluster of each host: by the name and namespace of the object that has it, else by the directory of an installation.
//!
//! Objects of a cluster are in a namespace of the cluster's name (stolostron/siteconfig renders them there, and so do people), and
//! an InfraEnv selects its NMStateConfigs by label (openshift/assisted-service, `docs/hive-integration`).

mod names;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostics, Place, rules};

use super::cluster::Cluster;
use super::found_host::FoundHost;
use super::origin::{Claim, Origin, Standing};

rules! {
    warning CLUSTER_TWICE = "cluster-twice";
}

#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub(super) cluster: Cluster,
    pub(super) origin: Origin,
    pub(super) place: Place,
}

/// The clusters, and which of them each host is of.
pub(super) struct Clusters {
    pub(super) clusters: Vec<Cluster>,
    /// By the host's index.
    pub(super) of_hosts: Vec<usize>,
    pub(super) twice: Diagnostics,
}

/// A cluster while it is put together.
#[derive(Debug, Default)]
struct Group {
    /// Name and namespace of an object, or of an installation.
    name: Option<String>,
    namespace: Option<String>,
    /// An earlier group that describes the same cluster.
    variant_of: Option<usize>,
    directories: BTreeSet<Arc<str>>,
    /// As told to people.
    directory: Option<String>,
    sources: BTreeSet<usize>,
    place: Option<Place>,
    is_described: bool,
}

pub(super) fn resolve(hosts: &[FoundHost], drafts: Vec<Draft>) -> Clusters {
    let mut resolver = Resolver::default();
    let mut of_drafts: Vec<Option<usize>> = vec![None; drafts.len()];
    for (draft, of) in drafts.iter().zip(&mut of_drafts) {
        *of = resolver.described(draft);
    }
    resolver.join_installations(&mut of_drafts);
    let mut of_hosts: Vec<Option<usize>> = vec![None; hosts.len()];
    let apart = resolver.apart(hosts);
    for (found, of) in hosts.iter().zip(&mut of_hosts) {
        *of = resolver.member(&found.origin, &of_drafts, &apart, &found.host.place);
    }
    resolver.join_members(&mut of_hosts);
    let real = resolver.real();
    for (found, of) in hosts.iter().zip(&mut of_hosts).filter(|(_, of)| of.is_none()) {
        *of = Some(resolver.nameless(&found.origin, &real, &found.host.place));
    }
    let of_hosts: Vec<usize> = of_hosts.into_iter().flatten().collect();
    resolver.finish(hosts, &of_hosts, drafts, &of_drafts)
}

/// Namespace and label of objects, and their directory where these do not tell their cluster.
type Members = (Option<String>, Option<String>, Option<Arc<str>>);

#[derive(Default)]
struct Resolver {
    groups: Vec<Group>,
    /// Groups by the name of a described cluster; of one name, those of several namespaces and directories.
    named: HashMap<String, Vec<usize>>,
    /// Groups of described clusters by a namespace of their objects.
    spaces: HashMap<String, Vec<usize>>,
    /// Groups of objects of hosts, which no object describes.
    members: HashMap<Members, usize>,
    /// By directory, and by name where a directory has several.
    installations: BTreeMap<(Arc<str>, Option<String>), usize>,
    install_configs: BTreeSet<usize>,
    agent_configs: BTreeSet<usize>,
    plain: HashMap<Option<Arc<str>>, usize>,
}

impl Resolver {
    fn group(&mut self, group: Group) -> usize {
        self.groups.push(group);
        self.groups.len() - 1
    }

    fn seen(&mut self, group: usize, origin: &Origin, place: &Place) {
        let known = &mut self.groups[group];
        known.directories.insert(origin.directory.clone());
        known.sources.insert(origin.source);
        if known.directory.is_none() {
            known.directory = Some(origin.shown().to_owned());
            known.place = Some(place.clone());
        }
    }

    fn described(&mut self, draft: &Draft) -> Option<usize> {
        let origin = &draft.origin;
        let group = match &origin.claim {
            Claim::Cluster { namespace, name, standing } => {
                self.cluster(origin, namespace, name, *standing)
            }
            Claim::Installation { name, is_install_config } => {
                self.installation(origin, name.as_ref(), *is_install_config)
            }
            Claim::Member { .. } | Claim::Nothing => return None,
        };
        self.seen(group, origin, &draft.place);
        Some(group)
    }

    /// A second whole description of a name is a variant of the first.
    fn cluster(
        &mut self,
        origin: &Origin,
        namespace: &Option<String>,
        name: &str,
        standing: Standing,
    ) -> usize {
        let known = self.named.get(name).map(Vec::as_slice).unwrap_or_default();
        let is_whole = standing == Standing::Whole;
        let is_same = |group: &&usize| {
            let other = &self.groups[**group];
            // The parts of one are rendered from the other into a namespace of the cluster's name.
            let own = |space: &Option<String>| space.as_deref().is_none_or(|space| space == name);
            other.namespace == *namespace || own(&other.namespace) && own(namespace)
        };
        let same: Vec<usize> = known.iter().filter(is_same).copied().collect();
        let has_place =
            |group: &&usize| self.groups[**group].directories.contains(&origin.directory);
        let free = |group: &&usize| !(is_whole && self.groups[**group].is_described);
        let mut beside = same.iter().filter(has_place).chain(&same).filter(free);
        if let Some(group) = beside.next().copied() {
            self.groups[group].is_described |= is_whole;
            return group;
        }
        let group = self.group(Group {
            name: Some(name.to_owned()),
            namespace: namespace.clone(),
            variant_of: same.first().copied(),
            is_described: is_whole,
            ..Group::default()
        });
        self.named.entry(name.to_owned()).or_default().push(group);
        let mut spaces = BTreeSet::from([name.to_owned()]);
        spaces.extend(namespace.clone());
        for space in spaces {
            self.spaces.entry(space).or_default().push(group);
        }
        group
    }

    fn installation(
        &mut self,
        origin: &Origin,
        name: Option<&String>,
        is_install_config: bool,
    ) -> usize {
        let directory = &origin.directory;
        let of_directory = || {
            let known = self.installations.range((directory.clone(), None)..);
            known.take_while(|((other, _), _)| other == directory)
        };
        let known: Vec<(Option<String>, usize)> =
            of_directory().map(|((_, name), group)| (name.clone(), *group)).collect();
        // Two install-configs of one directory are two clusters where their names differ.
        let fits =
            |other: &Option<String>| other.is_none() || name.is_none() || other.as_ref() == name;
        let found = known.iter().find(|(other, group)| {
            fits(other) || !(is_install_config && self.install_configs.contains(group))
        });
        let exact = known.iter().find(|(other, _)| other.as_ref() == name);
        let group = match exact.or(found) {
            Some((_, group)) => {
                // The name is that of the install-config.
                if is_install_config && !self.install_configs.contains(group) {
                    self.groups[*group].name = name.cloned().or(self.groups[*group].name.take());
                }
                *group
            }
            None => self.group(Group { name: name.cloned(), ..Group::default() }),
        };
        self.installations.entry((directory.clone(), name.cloned())).or_insert(group);
        match is_install_config {
            true => self.install_configs.insert(group),
            false => self.agent_configs.insert(group),
        };
        group
    }

    /// Makes one group of two; `of` has groups by index.
    fn merge(&mut self, from: usize, into: usize, of: &mut [Option<usize>]) {
        for of in of.iter_mut().filter(|of| **of == Some(from)) {
            *of = Some(into);
        }
        let Group { directories, sources, .. } = std::mem::take(&mut self.groups[from]);
        self.groups[into].directories.extend(directories);
        self.groups[into].sources.extend(sources);
    }

    /// An install-config and an agent-config of two directories, given together, are one installation.
    fn join_installations(&mut self, of_drafts: &mut [Option<usize>]) {
        let alone: Vec<usize> =
            self.agent_configs.difference(&self.install_configs).copied().collect();
        let mut whole = self.install_configs.iter();
        if let (Some(group), None, [agent]) = (whole.next().copied(), whole.next(), &alone[..])
            && !self.agent_configs.contains(&group)
        {
            for of in self.installations.values_mut().filter(|of| **of == *agent) {
                *of = group;
            }
            self.merge(*agent, group, of_drafts);
            self.agent_configs.remove(agent);
        }
    }

    /// Namespaces and labels of which two directories have an object of one name: no hub can have both.
    fn apart(&self, hosts: &[FoundHost]) -> BTreeSet<(Option<String>, Option<String>)> {
        let mut first: HashMap<(&Claim, Option<&str>), &Arc<str>> = HashMap::new();
        let mut apart = BTreeSet::new();
        for FoundHost { host, origin, .. } in hosts {
            if let claim @ Claim::Member { namespace, label } = &origin.claim {
                // A BareMetalHost and the NMStateConfig of one host may have one name.
                let directory =
                    first.entry((claim, host.name.as_deref())).or_insert(&origin.directory);
                if **directory != origin.directory && host.document().is_some() {
                    apart.insert((namespace.clone(), label.clone()));
                }
            }
        }
        apart
    }

    /// The group of an object of a host; `None` where the object says nothing of a cluster.
    fn member(
        &mut self,
        origin: &Origin,
        of_drafts: &[Option<usize>],
        apart: &BTreeSet<(Option<String>, Option<String>)>,
        place: &Place,
    ) -> Option<usize> {
        if let Some(of) = origin.draft.and_then(|draft| of_drafts.get(draft)) {
            return *of;
        }
        let Claim::Member { namespace, label } = &origin.claim else { return None };
        let group = self.of_object(origin, namespace, label, apart);
        self.seen(group, origin, place);
        Some(group)
    }

    /// The first of the same directory, else the first.
    fn nearest(
        &self,
        origin: &Origin,
        mut groups: impl Iterator<Item = usize> + Clone,
    ) -> Option<usize> {
        let is_here = |group: &usize| self.groups[*group].directories.contains(&origin.directory);
        groups.clone().find(is_here).or_else(|| groups.next())
    }

    fn of_object(
        &mut self,
        origin: &Origin,
        namespace: &Option<String>,
        label: &Option<String>,
        apart: &BTreeSet<(Option<String>, Option<String>)>,
    ) -> usize {
        let spaces = namespace.as_ref().and_then(|namespace| self.spaces.get(namespace));
        let described: Vec<usize> = match (spaces, label) {
            (Some(groups), _) => groups.clone(),
            // A namespace is added when the objects are applied.
            (None, Some(label)) if namespace.is_none() => {
                self.named.get(label).cloned().unwrap_or_default()
            }
            (None, _) => Vec::new(),
        };
        let names: BTreeSet<&String> =
            described.iter().filter_map(|group| self.groups[*group].name.as_ref()).collect();
        let by_label = described
            .iter()
            .copied()
            .filter(|group| label.is_some() && self.groups[*group].name == *label);
        let found = self.nearest(origin, by_label).or_else(|| {
            (names.len() == 1).then(|| self.nearest(origin, described.iter().copied())).flatten()
        });
        if let Some(group) = found {
            return group;
        }
        let is_apart = namespace.is_none() || apart.contains(&(namespace.clone(), label.clone()));
        let directory = is_apart.then(|| origin.directory.clone());
        let key = (namespace.clone(), label.clone(), directory);
        if let Some(group) = self.members.get(&key) {
            return *group;
        }
        let first = self
            .members
            .iter()
            .filter(|((space, own_label, _), _)| {
                space == namespace && own_label == label && namespace.is_some()
            })
            .map(|(_, group)| *group)
            .min();
        let group = self.group(Group {
            name: label.clone().or(namespace.clone()),
            namespace: namespace.clone(),
            variant_of: first,
            ..Group::default()
        });
        self.members.insert(key, group);
        group
    }

    /// The only objects beside the only installation are of its hosts.
    fn join_members(&mut self, of_hosts: &mut [Option<usize>]) {
        let installations: BTreeSet<usize> = self.installations.values().copied().collect();
        if let (Some(into), Some(from)) =
            (installations.first(), self.members.values().next().copied())
            && (installations.len(), self.members.len()) == (1, 1)
            && self.named.is_empty()
        {
            self.merge(from, *into, of_hosts);
        }
    }

    /// The groups so far, by directory.
    fn real(&self) -> HashMap<Arc<str>, BTreeSet<usize>> {
        let mut real: HashMap<Arc<str>, BTreeSet<usize>> = HashMap::new();
        for (index, group) in self.groups.iter().enumerate() {
            for directory in &group.directories {
                real.entry(directory.clone()).or_default().insert(index);
            }
        }
        real
    }

    /// A host of which nothing names the cluster: that of the next directory above it, in the same tree, or the only one of the
    /// other sources.
    fn nameless(
        &mut self,
        origin: &Origin,
        real: &HashMap<Arc<str>, BTreeSet<usize>>,
        place: &Place,
    ) -> usize {
        let above = Path::new(&*origin.directory).ancestors().filter_map(Path::to_str);
        let above = above.take_while(|directory| directory.len() >= origin.root.len());
        let found = above.filter_map(|directory| real.get(directory)).next();
        let all: BTreeSet<usize> = real.values().flatten().copied().collect();
        let mut all = all.into_iter();
        let only = match (all.next(), all.next()) {
            (Some(group), None) => Some(group),
            _ => None,
        };
        let group = match found.map(|found| found.iter().copied().collect::<Vec<_>>()).as_deref() {
            Some([group]) => Some(*group),
            Some(_) => None,
            None => only.filter(|group| {
                !origin.is_below() || !self.groups[*group].sources.contains(&origin.source)
            }),
        };
        let group = group.unwrap_or_else(|| {
            let key = origin.is_below().then(|| origin.directory.clone());
            if let Some(group) = self.plain.get(&key) {
                return *group;
            }
            let group = self.group(Group::default());
            self.plain.insert(key, group);
            group
        });
        self.seen(group, origin, place);
        group
    }

    fn finish(
        self,
        hosts: &[FoundHost],
        of_hosts: &[usize],
        drafts: Vec<Draft>,
        of_drafts: &[Option<usize>],
    ) -> Clusters {
        // An AgentClusterInstall whose hosts are elsewhere says nothing that could be checked.
        let is_whole = |draft: &Draft| {
            !matches!(draft.origin.claim, Claim::Cluster { standing: Standing::Part, .. })
        };
        let described = drafts.iter().zip(of_drafts).filter(|(draft, _)| is_whole(draft));
        let used: BTreeSet<usize> =
            of_hosts.iter().copied().chain(described.filter_map(|(_, of)| *of)).collect();
        let names = names::names(&self.groups, &used);
        let twice = self.twice(hosts, of_hosts);
        let mut clusters: Vec<Cluster> = Vec::new();
        let mut places: HashMap<usize, usize> = HashMap::new();
        for index in &used {
            let group = &self.groups[*index];
            places.insert(*index, clusters.len());
            clusters.push(Cluster {
                name: names.get(index).cloned().flatten(),
                variant_of: group.variant_of.and_then(|first| names.get(&first).cloned().flatten()),
                directories: group.directories.clone(),
                ..Cluster::default()
            });
        }
        for (draft, of) in drafts.into_iter().zip(of_drafts) {
            if let Some(place) = of.and_then(|of| places.get(&of)) {
                clusters[*place].add(draft.cluster);
            }
        }
        let of_hosts = of_hosts.iter().filter_map(|of| places.get(of).copied()).collect();
        Clusters { clusters, of_hosts, twice }
    }

    /// One message for each further description that says something else.
    fn twice(&self, hosts: &[FoundHost], of_hosts: &[usize]) -> Diagnostics {
        let mut by_group: HashMap<usize, Vec<&Host>> = HashMap::new();
        for (found, of) in hosts.iter().zip(of_hosts) {
            by_group.entry(*of).or_default().push(&found.host);
        }
        let of = |group: usize| by_group.get(&group).map(Vec::as_slice).unwrap_or_default();
        let mut found = Diagnostics::default();
        for (index, group) in self.groups.iter().enumerate() {
            let Some(first) = group.variant_of else { continue };
            let (Some(name), Some(place), Some(other)) =
                (&group.name, &group.place, &self.groups[first].place)
            else {
                continue;
            };
            if is_copy(of(index), of(first)) {
                continue;
            }
            let message = format!(
                "the cluster {} is described by {} too",
                name.escape_debug(),
                other.shown()
            );
            let help =
                "one of the two is applied over the other: remove one, or give it another name";
            found.add(CLUSTER_TWICE, place.clone(), message, help);
        }
        found
    }
}

/// True if the hosts are all among the others.
fn is_copy(hosts: &[&Host], others: &[&Host]) -> bool {
    let others: HashMap<Option<&str>, &Host> =
        others.iter().map(|host| (host.name.as_deref(), *host)).collect();
    hosts.iter().all(|host| {
        let other = others.get(&host.name.as_deref()).map(|other| other.document());
        match (host.document(), other) {
            (Some(own), Some(Some(other))) => own.root.means_the_same(&other.root),
            (None, Some(None)) => true,
            _ => false,
        }
    })
}

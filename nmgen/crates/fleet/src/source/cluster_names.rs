//! The cluster that a finding is about.

use std::collections::{BTreeSet, HashMap};

use nmgen_document::diagnostic::Diagnostic;

use super::hosts::{Hosts, directory_of};

/// The names of clusters by what findings have: a host and a file.
pub struct ClusterNames<'h> {
    of_hosts: HashMap<(&'h str, &'h str), &'h str>,
    /// Several make none.
    of_files: HashMap<&'h str, BTreeSet<Option<&'h str>>>,
    of_directories: HashMap<&'h str, BTreeSet<Option<&'h str>>>,
}

impl Hosts {
    /// The names of the clusters of findings about these hosts.
    pub fn cluster_names(&self) -> ClusterNames<'_> {
        let mut names = ClusterNames {
            of_hosts: HashMap::new(),
            of_files: HashMap::new(),
            of_directories: HashMap::new(),
        };
        for host in &self.hosts {
            let (file, cluster) = (&*host.place.file, host.cluster.as_deref());
            names.of_files.entry(file).or_default().insert(cluster);
            if let (Some(name), Some(cluster)) = (host.name.as_deref(), cluster) {
                names.of_hosts.insert((file, name), cluster);
            }
        }
        for cluster in &self.clusters {
            for directory in &cluster.directories {
                let known = names.of_directories.entry(directory).or_default();
                known.insert(cluster.name.as_deref());
            }
        }
        names
    }
}

impl<'h> ClusterNames<'h> {
    /// The finding's cluster, if it has a name: that of its host, else that of all hosts of its file or directory.
    pub fn of(&self, finding: &Diagnostic) -> Option<&'h str> {
        let file = &*finding.place.file;
        let of_host = || self.of_hosts.get(&(file, finding.host.as_deref()?)).copied();
        let only = |names: Option<&BTreeSet<Option<&'h str>>>| {
            let mut names = names?.iter();
            names.next().copied().flatten().filter(|_| names.next().is_none())
        };
        of_host().or_else(|| match self.of_files.get(file) {
            None => only(self.of_directories.get(&*directory_of(file))),
            names => only(names),
        })
    }
}

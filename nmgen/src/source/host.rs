//! A host and its document, from any kind of source.

use std::borrow::Cow;
use std::sync::Arc;

use super::cluster::Cluster;
use super::nic::Nic;
use crate::diagnostic::{Diagnostics, Place};
use crate::document::{self, Document};
use crate::node::CLUSTER;
use crate::text::Source;

/// The stage that a document is for, if its source gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// In the initramfs, to reach the Ignition endpoint: `networkConfig` and the like.
    Early,
    /// On the running node, by the agent: MachineConfigs under `/etc/nmstate/openshift`.
    Node,
    /// The source serves both stages: a document, a hosts directory.
    Any,
}

/// A host as one source describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Its name ([`CLUSTER`] included); `None` for a single document.
    pub name: Option<String>,
    /// The machine config pool (`master`, `worker`, ...), if the source gives it.
    pub role: Option<String>,
    /// The stage that the document is for.
    pub stage: Stage,
    /// In the source's order.
    pub nics: Vec<Nic>,
    /// The place of its declaration.
    pub place: Place,
    /// `None` if the source names the host without a network.
    pub(crate) document: Option<Document<'static>>,
    /// The source describes a machine, not only a document for one.
    pub(crate) is_machine: bool,
    /// The name of the policy of kubernetes-nmstate that has the document, which is applied beside the node's own.
    pub(crate) policy: Option<String>,
    /// The name of the host's cluster, in sources that may describe several.
    pub(crate) cluster: Option<Arc<str>>,
    /// The document is a node's state at some moment, not one that somebody wrote.
    pub(crate) is_captured: bool,
    /// br-ex cannot be derived from the document: diagnostics give the reason.
    pub(crate) is_underived: bool,
    /// The source has a network for it, which cannot be read: diagnostics give the reason.
    pub(crate) is_unread: bool,
}

impl Host {
    /// A host with no more than a name.
    pub(super) fn new(name: Option<String>, place: Place) -> Self {
        Self {
            name,
            role: None,
            stage: Stage::Any,
            nics: Vec::new(),
            place,
            document: None,
            is_machine: false,
            policy: None,
            cluster: None,
            is_captured: false,
            is_underived: false,
            is_unread: false,
        }
    }

    /// A host whose document is a file of its own.
    ///
    /// # Errors
    /// The file's faults as YAML.
    pub fn of_file(name: Option<String>, source: &Source) -> Result<Self, Diagnostics> {
        let document = document::parse(source)?.into_owned();
        Ok(Self { document: Some(document), ..Self::new(name, Place::file(source.name.clone())) })
    }

    /// Its NMState document as YAML: the original text, or rendered for a part of another file.
    /// `None` if the source has no network for the host.
    pub fn document_text(&self) -> Option<Cow<'_, str>> {
        self.document.as_ref().map(Document::text)
    }

    /// The name up to the first dot, by which a node looks for its document.
    pub fn short_name(&self) -> Option<&str> {
        self.name.as_deref()?.split('.').next()
    }

    /// True for the document of all nodes without a host file.
    pub fn is_cluster(&self) -> bool {
        self.name.as_deref() == Some(CLUSTER)
    }
}

/// The number of machines of a role, from an install-config.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicas {
    /// `master`, `arbiter`, `worker`.
    pub role: String,
    /// The number of machines.
    pub count: u64,
    /// The place of the number.
    pub place: Place,
}

/// The hosts of all sources, and the faults of the sources' files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hosts {
    /// In the order of sources; in a hosts directory sorted by name.
    pub hosts: Vec<Host>,
    /// The roles that need hosts.
    pub replicas: Vec<Replicas>,
    /// The cluster's network.
    pub cluster: Cluster,
    /// Skipped files and parts of files, each with the reason.
    pub diagnostics: Diagnostics,
}

impl Hosts {
    /// A single document of no particular host.
    pub fn document(source: &Source) -> Self {
        let mut hosts = Self::default();
        hosts.add(Host::of_file(None, source));
        hosts
    }

    pub(crate) fn add(&mut self, host: Result<Host, Diagnostics>) {
        self.hosts.extend(self.diagnostics.accept(host));
    }
}

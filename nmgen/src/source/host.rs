//! A host and its document, wherever they were described.

use std::borrow::Cow;

use super::nic::Nic;
use crate::diagnostic::{Diagnostics, Place};
use crate::document::{self, Document};
use crate::node::CLUSTER;
use crate::text::Source;

/// What a document is for, as far as its source tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// To reach the Ignition endpoint, in the initramfs: `networkConfig` and its like.
    Early,
    /// For the agent on the running node: MachineConfigs under `/etc/nmstate/openshift`.
    Node,
    /// The source serves both: a document, a hosts directory.
    Any,
}

/// One node, as one source describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// Its name ([`CLUSTER`] included); `None` for a single document.
    pub name: Option<String>,
    /// `master`, `worker`, ...: the machine config pool, where the source tells.
    pub role: Option<String>,
    /// What the document is for.
    pub stage: Stage,
    /// In the source's order.
    pub nics: Vec<Nic>,
    /// Where the source declares it.
    pub place: Place,
    /// `None` where the source names the host and gives it no network.
    pub(crate) document: Option<Document<'static>>,
    /// The source describes the machine, not only a document for one.
    pub(crate) is_machine: bool,
    /// The source does give it a network, which could not be read: diagnostics say why.
    pub(crate) is_unread: bool,
}

impl Host {
    /// A host of which no more is known.
    pub(super) fn new(name: Option<String>, place: Place) -> Self {
        Self {
            name,
            role: None,
            stage: Stage::Any,
            nics: Vec::new(),
            place,
            document: None,
            is_machine: false,
            is_unread: false,
        }
    }

    /// A host that is no more than a document in a file of its own.
    ///
    /// # Errors
    /// What is wrong with the text as YAML.
    pub fn of_file(name: Option<String>, source: &Source) -> Result<Self, Diagnostics> {
        let document = document::parse(source)?.into_owned();
        Ok(Self { document: Some(document), ..Self::new(name, Place::file(source.name.clone())) })
    }

    /// Its NMState document as YAML: as it was written, or, of a part of another file, written anew. `None`
    /// where the source gives the host no network.
    pub fn document_text(&self) -> Option<Cow<'_, str>> {
        self.document.as_ref().map(Document::text)
    }

    /// True for the document that every node without a host file would take.
    pub fn is_cluster(&self) -> bool {
        self.name.as_deref() == Some(CLUSTER)
    }
}

/// So many machines of a role, as an install-config wants them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replicas {
    /// `master`, `arbiter`, `worker`.
    pub role: String,
    /// How many.
    pub count: u64,
    /// Where it stands.
    pub place: Place,
}

/// What sources were found to hold, with what is wrong with their files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Hosts {
    /// In the order of sources; in a hosts directory in the order of names.
    pub hosts: Vec<Host>,
    /// The roles that are to have hosts.
    pub replicas: Vec<Replicas>,
    /// Files and parts of files that are left out, and why.
    pub diagnostics: Diagnostics,
}

impl Hosts {
    /// One document that belongs to no host in particular.
    pub fn document(source: &Source) -> Self {
        let mut hosts = Self::default();
        hosts.add(Host::of_file(None, source));
        hosts
    }

    pub(crate) fn add(&mut self, host: Result<Host, Diagnostics>) {
        self.hosts.extend(self.diagnostics.accept(host));
    }
}

//! A host and its document, from any kind of source.

use std::borrow::Cow;
use std::sync::Arc;

use nmgen_document::Document;
use nmgen_document::diagnostic::{Diagnostics, Place};
use nmgen_document::text::Source;

use super::nic::Nic;
use crate::node::{CLUSTER, short_host_name};

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

/// A host's network, as its source has it.
#[derive(Debug, Clone, PartialEq)]
pub enum HostNetwork {
    /// The source names the host without a network.
    Missing,
    /// The source has one that cannot be read: diagnostics give the reason.
    Unreadable,
    /// A document that somebody wrote.
    Written(Document<'static>),
    /// A node's state at some moment.
    Captured(Document<'static>),
    /// br-ex cannot be derived from this document: diagnostics give the reason.
    Underivable(Document<'static>),
}

impl HostNetwork {
    /// A document of the source; `None` where diagnostics say why it cannot be read.
    pub fn read(document: Option<Document<'static>>) -> Self {
        document.map_or(Self::Unreadable, Self::Written)
    }

    /// The network with its document changed.
    pub fn map(self, change: impl FnOnce(Document<'static>) -> Self) -> Self {
        match self {
            Self::Missing | Self::Unreadable => self,
            Self::Written(document) | Self::Captured(document) | Self::Underivable(document) => {
                change(document)
            }
        }
    }
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
    /// The source is for assisted-service, which takes no document without a map of its cards.
    pub needs_map: bool,
    /// The place of its declaration.
    pub place: Place,
    /// Its network, if the source has one.
    pub network: HostNetwork,
    /// The source describes a machine, not only a document for one.
    pub is_machine: bool,
    /// The name of the policy of kubernetes-nmstate that has the document, which is applied beside the node's own.
    pub policy: Option<String>,
    /// The name of the host's cluster, in sources that may describe several.
    pub cluster: Option<Arc<str>>,
}

impl Host {
    /// A host with no more than a name.
    pub fn new(name: Option<String>, place: Place) -> Self {
        Self {
            name,
            role: None,
            stage: Stage::Any,
            nics: Vec::new(),
            needs_map: false,
            place,
            network: HostNetwork::Missing,
            is_machine: false,
            policy: None,
            cluster: None,
        }
    }

    /// A host whose document is a file of its own.
    ///
    /// # Errors
    /// The file's faults as YAML.
    pub fn of_file(name: Option<String>, source: &Source) -> Result<Self, Diagnostics> {
        let document = nmgen_document::parse(source)?.into_owned();
        Ok(Self {
            network: HostNetwork::Written(document),
            ..Self::new(name, Place::file(source.name.clone()))
        })
    }

    /// Its NMState document, whatever it is there for.
    pub const fn document(&self) -> Option<&Document<'static>> {
        match &self.network {
            HostNetwork::Missing | HostNetwork::Unreadable => None,
            HostNetwork::Written(document)
            | HostNetwork::Captured(document)
            | HostNetwork::Underivable(document) => Some(document),
        }
    }

    /// Its NMState document, to be changed in place.
    pub const fn document_mut(&mut self) -> Option<&mut Document<'static>> {
        match &mut self.network {
            HostNetwork::Missing | HostNetwork::Unreadable => None,
            HostNetwork::Written(document)
            | HostNetwork::Captured(document)
            | HostNetwork::Underivable(document) => Some(document),
        }
    }

    /// Its NMState document as YAML: the original text, or rendered for a part of another file.
    /// `None` if the source has no network for the host.
    pub fn document_text(&self) -> Option<Cow<'_, str>> {
        self.document().map(Document::text)
    }

    /// The name up to the first dot, by which a node looks for its document.
    pub fn short_name(&self) -> Option<&str> {
        self.name.as_deref().map(short_host_name)
    }

    /// True for the document of all nodes without a host file.
    pub fn is_cluster(&self) -> bool {
        self.name.as_deref() == Some(CLUSTER)
    }
}

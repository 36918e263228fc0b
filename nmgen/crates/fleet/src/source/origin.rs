//! Where a source stands, and what it says of its cluster.

use std::sync::Arc;

use super::hosts::directory_of;

/// The place of a host or a description among the sources.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) source: usize,
    /// The directory that was given, or that of the given file.
    pub(super) root: Arc<str>,
    pub(super) directory: Arc<str>,
    pub(super) claim: Claim,
    /// The file is in a given directory, or below.
    pub(super) is_directory: bool,
    /// The description that has the host.
    pub(super) draft: Option<usize>,
}

impl Default for Origin {
    fn default() -> Self {
        Self {
            source: 0,
            root: "".into(),
            directory: "".into(),
            claim: Claim::Nothing,
            is_directory: false,
            draft: None,
        }
    }
}

impl Origin {
    /// The place of what is given on the command line.
    pub(super) fn of_source(source: usize, path: &str, is_directory: bool) -> Self {
        let directory: Arc<str> = match (path, is_directory) {
            ("-", _) => "<stdin>".into(),
            (path, false) => directory_of(path).into(),
            (path, true) => match path.trim_end_matches('/') {
                "" => "/".into(),
                path => path.into(),
            },
        };
        Self {
            source,
            root: directory.clone(),
            directory,
            claim: Claim::Nothing,
            is_directory,
            draft: None,
        }
    }

    pub(super) fn below(&self, directory: &str) -> Self {
        let origin = self.clone();
        Self { directory: directory.into(), claim: Claim::Nothing, draft: None, ..origin }
    }

    /// Another file or object begins.
    pub(super) fn claim(&mut self, claim: Claim) {
        (self.claim, self.draft) = (claim, None);
    }

    /// The object describes a cluster, with its hosts.
    pub(super) fn describe(&mut self, draft: usize) {
        self.draft = Some(draft);
    }

    /// True in a directory below the given one.
    pub(super) fn is_below(&self) -> bool {
        self.root != self.directory
    }

    /// The directory, from the given one on.
    pub(super) fn shown(&self) -> &str {
        let below = self.directory.strip_prefix(&*self.root).unwrap_or(&self.directory);
        match below.trim_start_matches('/') {
            "" => &self.directory,
            below => below,
        }
    }
}

/// The words of a source about its cluster.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Claim {
    /// None: the directory decides.
    Nothing,
    /// An install-config or an agent-config: the installation of its directory.
    Installation { name: Option<String>, is_install_config: bool },
    /// An object that describes a cluster, or a host in it.
    Cluster { namespace: Option<String>, name: String, standing: Standing },
    /// An object of one host: its namespace, and the InfraEnv of its label.
    Member { namespace: Option<String>, label: Option<String> },
}

/// How much of a cluster an object describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Standing {
    /// All of it, with its hosts: ClusterInstance, SiteConfig.
    Whole,
    /// A part, beside others: AgentClusterInstall, ClusterDeployment.
    Part,
}

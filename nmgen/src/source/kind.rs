//! Recognises by its content what a file is.

use super::{Hosts, Source, install_config};
use crate::document::{self, Node};

/// What a document of a file describes.
enum Kind {
    /// One node's network: NMState.
    State,
    /// The installer's `install-config.yaml`.
    InstallConfig,
}

/// The hosts of a file. NMState comes one document a file, everything else any number.
pub(super) fn load(source: &Source) -> Hosts {
    let mut hosts = Hosts::default();
    for document in document::parse_stream(source) {
        match document {
            Ok(document) => match kind(&document.root) {
                Kind::State => return Hosts::document(source),
                Kind::InstallConfig => hosts.append(install_config::hosts(&document)),
            },
            Err(mut faults) => hosts.diagnostics.append(&mut faults),
        }
    }
    hosts
}

fn kind(root: &Node<'_>) -> Kind {
    let is_install_config = root.get("apiVersion").is_some() && root.at(&["platform"]).is_some();
    if is_install_config { Kind::InstallConfig } else { Kind::State }
}

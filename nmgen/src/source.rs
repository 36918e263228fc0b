//! Sources of documents: files of many kinds, standard input, directories.

mod cluster;
mod directory;
#[cfg(feature = "pipelines")]
mod fleet;
#[cfg(not(feature = "pipelines"))]
#[path = "source/no_fleet.rs"]
mod fleet;
mod host;
mod hosts_directory;
#[cfg(feature = "pipelines")]
mod mac_addresses;
mod nic;
mod read_file;

pub use self::cluster::{Cluster, ClusterAddress, Network, Plugin};
#[cfg(feature = "pipelines")]
pub(crate) use self::fleet::assisted_tree;
pub use self::host::{Host, Hosts, Replicas, Stage};
pub(crate) use self::hosts_directory::{HOST_FILE_NAME, NAME_HELP, is_usable_name};
pub use self::nic::Nic;
pub(crate) use self::nic::{MAC_SYNTAX, SIX_BYTES};
pub(crate) use self::read_file::document;
use crate::diagnostic::Rule;
pub use crate::document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS};
use crate::error::Error;
pub use crate::node::CLUSTER;
pub use crate::text::{Source, Text};

/// Rules about the files themselves, regardless of content.
pub(crate) fn rules() -> Vec<Rule> {
    [read_file::RULES, hosts_directory::RULES, nic::RULES, &fleet::rules()].concat()
}

/// Reads every path: `-` is standard input; the kind of a file or directory is recognised by its
/// content.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`]: I/O on this machine failed. Faults of the input are
/// diagnostics.
pub fn load(paths: &[impl AsRef<str>]) -> Result<Hosts, Error> {
    // Standard input is read once, even if named repeatedly.
    let mut is_first_stdin = true;
    let paths = paths
        .iter()
        .map(AsRef::as_ref)
        .filter(|path| *path != "-" || std::mem::take(&mut is_first_stdin));
    fleet::load(paths)
}

//! Where documents come from: files of many kinds, standard input, directories.

mod directory;
#[cfg(feature = "pipelines")]
mod fleet;
#[cfg(not(feature = "pipelines"))]
#[path = "source/no_fleet.rs"]
mod fleet;
mod host;
mod hosts_directory;
mod nic;
mod read_file;

pub use self::host::{Host, Hosts, Replicas, Stage};
pub(crate) use self::hosts_directory::HOST_FILE_NAME;
pub use self::nic::Nic;
pub(crate) use self::nic::{MAC_SYNTAX, SIX_BYTES};
pub(crate) use self::read_file::document;
use crate::diagnostic::Rule;
pub use crate::document::size::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS};
use crate::error::Error;
pub use crate::node::CLUSTER;
pub use crate::text::{Source, Text};

/// Rules about the files themselves, whatever is in them.
pub(crate) fn rules() -> Vec<Rule> {
    [read_file::RULES, hosts_directory::RULES, nic::RULES, &fleet::rules()].concat()
}

/// Reads every path: `-` is standard input; of a file or a directory the content tells what it is.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`]: this machine's I/O failed. What is wrong with the
/// input itself is a diagnostic.
pub fn load(paths: &[impl AsRef<str>]) -> Result<Hosts, Error> {
    // There is one standard input, however often it is named.
    let mut is_first_stdin = true;
    let paths = paths
        .iter()
        .map(AsRef::as_ref)
        .filter(|path| *path != "-" || std::mem::take(&mut is_first_stdin));
    fleet::load(paths)
}

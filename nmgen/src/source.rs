//! Where documents come from: files of many kinds, standard input, directories.

mod directory;
mod host;
mod hosts_directory;
#[cfg(feature = "pipelines")]
mod pipeline;
mod read;

use std::sync::Arc;

pub use self::host::{Host, Hosts, Nic, Replicas, Stage};
pub use self::read::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS, Text};
pub(crate) use self::read::{document, too_many};

use crate::diagnostic::Rule;
use crate::error::Error;

const HOST_FILE_FQDN: Rule = Rule::warning("host-file-fqdn");
const HOST_FILE_EXTENSION: Rule = Rule::warning("host-file-extension");
const HOST_FILE_EMPTY: Rule = Rule::warning("host-file-empty");
pub(crate) const HOST_FILE_NAME: Rule = Rule::error("host-file-name");
const NO_HOSTS: Rule = Rule::error("no-hosts");

/// Rules about the files themselves, whatever is in them.
pub(crate) fn rules() -> Vec<Rule> {
    let directories =
        [HOST_FILE_FQDN, HOST_FILE_EXTENSION, HOST_FILE_EMPTY, HOST_FILE_NAME, NO_HOSTS];
    #[cfg(feature = "pipelines")]
    let rules = [read::RULES, &directories, pipeline::RULES].concat();
    #[cfg(not(feature = "pipelines"))]
    let rules = [read::RULES, &directories].concat();
    rules
}

/// The name under which a hosts directory holds the document for nodes that have none of their own.
pub const CLUSTER: &str = "cluster";

/// One file's text and the name that diagnostics give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the caller wrote it, or `<stdin>`.
    pub name: Arc<str>,
    /// The text: valid UTF-8, without a byte-order mark, at most [`MAX_FLEET_BYTES`] long.
    pub text: Text,
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
    #[cfg(feature = "pipelines")]
    return pipeline::load(paths);
    #[cfg(not(feature = "pipelines"))]
    return load_documents(paths);
}

/// In an initramfs there are documents and hosts directories only.
#[cfg(not(feature = "pipelines"))]
fn load_documents<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Hosts, Error> {
    let mut hosts = Hosts::default();
    for path in paths {
        if directory::is(path) {
            hosts_directory::load(path, &directory::files(path)?, &mut hosts)?;
        } else if let Some(source) =
            read::file(path, read::Content::Document, &mut hosts.diagnostics)?
        {
            hosts.add(Host::of_file(None, &source));
        }
    }
    Ok(hosts)
}

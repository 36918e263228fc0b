//! Where documents come from: a file, standard input, a hosts directory.

mod embedded;
mod host;
mod hosts_directory;
mod install_config;
mod kind;
mod read;

use std::sync::Arc;

pub use self::host::{Host, Hosts, Nic, Stage};
pub use self::read::{MAX_DOCUMENT_BYTES, Text};

use crate::diagnostic::Rule;
use crate::error::Error;

pub(crate) const HOST_FILE_FQDN: Rule = Rule::warning("host-file-fqdn");
pub(crate) const HOST_FILE_EXTENSION: Rule = Rule::warning("host-file-extension");
pub(crate) const HOST_FILE_EMPTY: Rule = Rule::warning("host-file-empty");
pub(crate) const HOST_FILE_NAME: Rule = Rule::error("host-file-name");
pub(crate) const NO_HOSTS: Rule = Rule::error("no-hosts");

/// Rules about the files themselves, whatever is in them.
pub(crate) fn rules() -> Vec<Rule> {
    let hosts = [HOST_FILE_FQDN, HOST_FILE_EXTENSION, HOST_FILE_EMPTY, HOST_FILE_NAME, NO_HOSTS];
    [read::RULES, &hosts].concat()
}

/// The name under which a hosts directory holds the document for nodes that have none of their own.
pub const CLUSTER: &str = "cluster";

/// One file's text and the name that diagnostics give it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The path as the caller wrote it, or `<stdin>`.
    pub name: Arc<str>,
    /// The text: valid UTF-8, without a byte-order mark, at most [`MAX_DOCUMENT_BYTES`] long.
    pub text: Text,
}

/// Reads every path: `-` is standard input, a directory is a hosts directory, of a file the content tells
/// what it is.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`]: this machine's I/O failed. What is wrong with the
/// input itself is a diagnostic.
pub fn load(paths: &[impl AsRef<str>]) -> Result<Hosts, Error> {
    let mut loaded = Hosts::default();
    for path in paths.iter().map(AsRef::as_ref) {
        if path != "-" && std::path::Path::new(path).is_dir() {
            loaded.append(hosts_directory::load(path)?);
        } else if let Some(source) = read::file(path, &mut loaded.diagnostics)? {
            loaded.append(kind::load(&source));
        }
    }
    Ok(loaded)
}

//! Where documents come from: a file, standard input, a hosts directory.

mod hosts;
mod read;

use std::sync::Arc;

pub use self::read::{MAX_DOCUMENT_BYTES, Text};

use crate::diagnostic::{Diagnostic, Place, Rule};
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

/// One node's document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The file name without `.yml` in a hosts directory ([`CLUSTER`] included); `None` for a single
    /// document.
    pub name: Option<String>,
    /// The document.
    pub source: Source,
}

impl Host {
    /// True for the document that every node without a host file would take.
    pub fn is_cluster(&self) -> bool {
        self.name.as_deref() == Some(CLUSTER)
    }
}

/// What a source was found to hold, with what is wrong with its files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hosts {
    /// In the order of their names.
    pub hosts: Vec<Host>,
    /// Files that are left out, and why.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads `path`: `-` is standard input, a directory is a hosts directory, anything else one document.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`]: this machine's I/O failed. What is wrong with the
/// input itself is a diagnostic.
pub fn load(path: &str) -> Result<Hosts, Error> {
    let is_directory = path != "-" && std::path::Path::new(path).is_dir();
    if is_directory {
        return hosts::load(path);
    }
    let mut loaded = Hosts::default();
    if let Some(source) = read::file(path, &mut loaded.diagnostics)? {
        loaded.hosts.push(Host { name: None, source });
    }
    Ok(loaded)
}

fn whole_file(name: &str) -> Place {
    Place { file: name.into(), position: None }
}

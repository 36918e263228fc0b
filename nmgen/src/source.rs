//! Where documents come from: files of many kinds, standard input, directories.

mod agent_config;
mod assisted_tree;
mod bare_metal_host;
mod capture;
mod directory;
mod embedded;
mod encoding;
mod found;
mod host;
mod hosts_directory;
mod install_config;
mod kind;
mod machine_config;
mod manifest;
mod nmc_directory;
mod nmstate_config;
mod policy;
mod read;
mod secret;

use std::sync::Arc;

pub use self::host::{Host, Hosts, Nic, Stage};
pub(crate) use self::read::too_many;
pub use self::read::{MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS, Text};

use self::found::Found;
use self::read::Content;
use crate::diagnostic::Rule;
use crate::error::Error;

const HOST_FILE_FQDN: Rule = Rule::warning("host-file-fqdn");
const HOST_FILE_EXTENSION: Rule = Rule::warning("host-file-extension");
const HOST_FILE_EMPTY: Rule = Rule::warning("host-file-empty");
pub(crate) const HOST_FILE_NAME: Rule = Rule::error("host-file-name");
const NO_HOSTS: Rule = Rule::error("no-hosts");
const UNUSED_FILE: Rule = Rule::warning("unused-file");
const KIND_MISSING: Rule = Rule::error("kind-missing");
const KEY_CASE: Rule = Rule::error("key-case");
const SOURCE_SHAPE: Rule = Rule::error("source-shape");
const HOST_NAME: Rule = Rule::error("host-name");
const HOST_UNNAMED: Rule = Rule::warning("host-unnamed");
const SECRET_REFERENCE: Rule = Rule::warning("secret-reference");
const SECRET_DATA_TWICE: Rule = Rule::error("secret-data-twice");
const BASE64: Rule = Rule::error("base64");
const DATA_URL: Rule = Rule::error("data-url");
const COMPRESSION: Rule = Rule::error("compression");
const CAPTURE: Rule = Rule::error("capture");

/// Rules about the files themselves, whatever is in them.
pub(crate) fn rules() -> Vec<Rule> {
    let directories =
        [HOST_FILE_FQDN, HOST_FILE_EXTENSION, HOST_FILE_EMPTY, HOST_FILE_NAME, NO_HOSTS];
    let manifests = [
        UNUSED_FILE,
        KIND_MISSING,
        KEY_CASE,
        SOURCE_SHAPE,
        HOST_NAME,
        HOST_UNNAMED,
        SECRET_REFERENCE,
        SECRET_DATA_TWICE,
        BASE64,
        DATA_URL,
        COMPRESSION,
        CAPTURE,
    ];
    [read::RULES, &directories, &manifests].concat()
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
    let mut found = Found::default();
    for path in paths.iter().map(AsRef::as_ref) {
        if path != "-" && std::path::Path::new(path).is_dir() {
            directory::load(path, &mut found)?;
        } else {
            let source = read::file(path, Content::Any, &mut found.loaded.diagnostics)?;
            if let Some(source) = source {
                kind::load(&source, None, &mut found);
            }
        }
    }
    Ok(found.into_hosts())
}

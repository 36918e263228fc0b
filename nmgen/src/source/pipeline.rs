//! What only pipelines read: files that describe a fleet, which are recognised by their content.

mod agent_config;
mod assisted_tree;
mod bare_metal_host;
mod capture;
mod embedded;
mod encoding;
mod found;
mod install_config;
mod kind;
mod machine_config;
mod manifest;
mod nmc_directory;
mod nmstate_config;
mod policy;
mod secret;
mod tree;

use self::found::Found;
use super::read::Content;
use super::{
    CLUSTER, HOST_FILE_EMPTY, Host, Hosts, MAX_DOCUMENT_BYTES, MAX_FLEET_BYTES, MAX_HOSTS,
    NO_HOSTS, Nic, Replicas, Source, Stage, directory, hosts_directory, read,
};
use crate::diagnostic::Rule;
use crate::error::Error;

const UNUSED_FILE: Rule = Rule::warning("unused-file");
const KIND_MISSING: Rule = Rule::error("kind-missing");
const KEY_CASE: Rule = Rule::error("key-case");
const KEY_MISSPELT: Rule = Rule::warning("key-misspelt");
const KEY_MISPLACED: Rule = Rule::error("key-misplaced");
const HOST_ROLE: Rule = Rule::warning("host-role");
const SOURCE_SHAPE: Rule = Rule::error("source-shape");
const HOST_NAME: Rule = Rule::error("host-name");
const HOST_UNNAMED: Rule = Rule::warning("host-unnamed");
const SECRET_REFERENCE: Rule = Rule::warning("secret-reference");
const SECRET_DATA_TWICE: Rule = Rule::error("secret-data-twice");
const BASE64: Rule = Rule::error("base64");
const DATA_URL: Rule = Rule::error("data-url");
const COMPRESSION: Rule = Rule::error("compression");
const CAPTURE: Rule = Rule::error("capture");

pub(super) const RULES: &[Rule] = &[
    UNUSED_FILE,
    KIND_MISSING,
    KEY_CASE,
    KEY_MISSPELT,
    KEY_MISPLACED,
    HOST_ROLE,
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

pub(super) fn load<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Hosts, Error> {
    let mut found = Found::default();
    for path in paths {
        if directory::is(path) {
            tree::load(path, &mut found)?;
            continue;
        }
        let source = read::file(path, Content::Any, &mut found.loaded.diagnostics)?;
        if let Some(source) = source {
            kind::load(&source, None, &mut found);
        }
    }
    Ok(found.into_hosts())
}

//! Files that describe a fleet, recognised by their content; in the full program only.

mod acm_policy;
mod agent_config;
mod assisted_tree;
mod bare_metal_host;
mod capture;
mod cluster_instance;
mod embedded;
mod encoding;
mod found;
mod install_config;
mod installation;
mod kind;
mod machine_config;
mod manifest;
mod network_config;
mod nmc_directory;
mod nmstate_config;
mod node_network_state;
mod policy;
mod secret;
mod tree;

use self::found::Found;
use super::directory;
use super::host::Hosts;
use super::read_file;
use crate::diagnostic::Rule;
use crate::error::Error;

pub(super) fn rules() -> Vec<Rule> {
    [
        capture::RULES,
        embedded::RULES,
        encoding::RULES,
        found::RULES,
        kind::RULES,
        manifest::RULES,
        secret::RULES,
        tree::RULES,
    ]
    .concat()
}

/// The hosts of a tree of assisted-service; none if the directory is no such tree.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`].
pub(crate) fn assisted_tree(path: &str) -> Result<Hosts, Error> {
    let mut found = Found::default();
    assisted_tree::load(&assisted_tree::hosts(path)?, &mut found)?;
    Ok(found.loaded)
}

pub(super) fn load<'p>(paths: impl Iterator<Item = &'p str>) -> Result<Hosts, Error> {
    let mut found = Found::default();
    for path in paths {
        if directory::is(path) {
            tree::load(path, &mut found)?;
            continue;
        }
        let source = read_file::file(path, kind::limit, &mut found.loaded.diagnostics)?;
        if let Some(source) = source {
            kind::load(&source, None, &mut found);
        }
    }
    Ok(found.into_hosts())
}

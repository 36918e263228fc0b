//! Recognises the kind of a directory by its files.

use super::found::Found;
use super::{assisted_tree, nmc_directory};
use crate::error::Error;
use crate::source::{directory, hosts_directory};

/// Loads a hosts directory, an assisted-service tree or an nmc directory.
pub(super) fn load(path: &str, found: &mut Found) -> Result<(), Error> {
    let hosts = assisted_tree::hosts(path)?;
    if !hosts.is_empty() {
        return assisted_tree::load(&hosts, found);
    }
    let names = directory::files(path)?;
    match nmc_directory::is(&names) {
        true => nmc_directory::load(path, &names, found),
        false => hosts_directory::load(path, &names, &mut found.loaded),
    }
}

//! Sources of documents: files of many kinds, recognised by their content, standard input, directories.

mod acm_policy;
mod agent_cluster_install;
mod agent_config;
mod api_version;
mod assisted_tree;
mod bare_metal_host;
mod capture;
mod cluster;
mod cluster_instance;
mod cluster_names;
mod clusters;
mod descend;
mod dialect;
mod directory;
mod embedded;
mod encoding;
mod extent;
mod found;
mod found_host;
mod git;
mod hardware;
mod hosts;
mod hosts_directory;
mod infra_env;
mod install_config;
mod installation;
mod keys;
mod kind;
mod machine_config;
mod manifest;
mod network_config;
mod network_words;
mod nmstate_config;
mod node_network_state;
mod ordinary_space;
mod origin;
mod os_image;
mod other_format;
mod policy;
mod secret;
mod secrets;
mod static_network_config;
mod tree;
mod unread;

use std::path::Path;

use nmgen_core::source::{bounded, read_file};
use nmgen_document::diagnostic::Rule;
use nmgen_document::error::Error;
use nmgen_document::size::MAX_FLEET_BYTES;
use nmgen_document::text::Source;

pub(crate) use self::capture::findings as of_captures;
pub(crate) use self::cluster::BridgeTopology;
pub use self::cluster::{Cluster, ClusterAddress, ClusterNetwork, Plugin, Replicas};
pub use self::cluster_names::ClusterNames;
pub use self::extent::Extent;
use self::found::Found;
pub use self::hosts::{Hardware, HostCard, Hosts, MachineConfig, ManagementController};
pub(crate) use self::hosts::{cluster_of, directory_of};
pub(crate) use self::hosts_directory::{HOST_FILE_NAME, NAME_HELP, is_usable_name, own_name};
use self::origin::Origin;

/// Rules about the files themselves, regardless of content.
pub(crate) fn rules() -> Vec<Rule> {
    [
        &nmgen_core::source::rules(),
        hosts_directory::RULES,
        api_version::RULES,
        capture::RULES,
        clusters::RULES,
        descend::RULES,
        dialect::RULES,
        directory::RULES,
        embedded::RULES,
        encoding::RULES,
        found::RULES,
        git::RULES,
        infra_env::RULES,
        kind::RULES,
        machine_config::RULES,
        manifest::RULES,
        ordinary_space::RULES,
        os_image::RULES,
        other_format::RULES,
        secret::RULES,
        secrets::RULES,
        tree::RULES,
        unread::RULES,
    ]
    .concat()
}

/// Reads every path: `-` is standard input; the kind of a file or directory is recognised by its
/// content.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`]: I/O on this machine failed. Faults of the input are
/// diagnostics.
pub fn load(paths: &[impl AsRef<str>]) -> Result<Hosts, Error> {
    load_for(paths, Extent::Written)
}

/// Like [`load`], as far as the use of the sources demands.
///
/// # Errors
/// Those of [`load`].
pub fn load_for(paths: &[impl AsRef<str>], extent: Extent) -> Result<Hosts, Error> {
    let mut found = Found::default();
    found.extent = extent;
    // Standard input is read once, even if named repeatedly.
    let mut is_first_stdin = true;
    for (source, path) in paths.iter().map(AsRef::as_ref).enumerate() {
        if path == "-" && !std::mem::take(&mut is_first_stdin) {
            continue;
        }
        found.origin = Origin::of_source(source, path, directory::is(path));
        if directory::is(path) {
            tree::load(path, &mut found)?;
        } else if let Some(source) = unpacked(path)? {
            kind::load(&source, &mut found);
        } else if let Some(source) = read_file::file(path, kind::limit, &mut found.diagnostics)? {
            let source = match extent.is_nmstatectls() {
                true => ordinary_space::replaced(source, &mut found.diagnostics),
                false => source,
            };
            kind::load(&source, &mut found);
        }
    }
    let mut hosts = found.into_hosts();
    hosts.bound();
    Ok(hosts)
}

/// The text of a compressed file, as `dayone collect` writes it; `None` for any other one.
fn unpacked(path: &str) -> Result<Option<Source>, Error> {
    if !path.ends_with(".gz") {
        return Ok(None);
    }
    let failed = |source| Error::ReadFile { path: path.to_owned(), source };
    let bytes = bounded::read(Path::new(path), MAX_FLEET_BYTES).map_err(failed)?;
    let text =
        encoding::gunzip(&bytes, MAX_FLEET_BYTES).ok().filter(|text| text.len() <= MAX_FLEET_BYTES);
    let text = text.and_then(|text| String::from_utf8(text).ok());
    Ok(text.map(|text| Source { name: path.into(), text: text.into() }))
}

/// The hosts of a tree of assisted-service; none if the directory is no such tree.
///
/// # Errors
/// [`Error::ReadDirectory`], [`Error::ReadFile`].
pub fn assisted_tree(path: &str) -> Result<Hosts, Error> {
    let mut found = Found::default();
    assisted_tree::load(path, &assisted_tree::hosts(path)?, &mut found)?;
    let hosts = found.hosts.into_iter().map(|found| found.host).collect();
    Ok(Hosts { hosts, diagnostics: found.diagnostics, ..Hosts::default() })
}

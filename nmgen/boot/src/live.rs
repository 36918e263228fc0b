//! The live root of an installer: before NetworkManager starts, the running system gets this machine's
//! profiles. They are final: no second step takes anything back. Takes the place of the script
//! `pre-network-manager-config.sh` of assisted-service and the agent installer.

mod host_name;
mod keyfiles;
mod place;
mod ready;
mod tree;

use std::path::Path;

use nmgen_core::source::Host;
use nmgen_document::Error;
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::format::counted;

use self::ready::Ready;
use crate::choose::chooser::shown;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, is_initramfs};
use crate::choose::{expect_cards, seek};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::names::{conversion, renamed};
use crate::root::{INITRAMFS, PERSISTED, Paths};
use crate::wait::cards::Cards;

/// Reads a tree of assisted-service: its hosts, none if the directory is no such tree, and its faults.
pub type ReadTree = fn(&str) -> Result<(Vec<Host>, Diagnostics), Error>;

/// assisted-service's tree; nmgen's own directories follow.
const ASSISTED: &str = "/etc/assisted/network";

/// Writes this machine's profiles to `/etc`, from `hosts` or the first directory with documents, and
/// its host name.
///
/// # Errors
/// The reason why the system gets no profiles.
pub(crate) fn live(
    paths: &Paths,
    hosts: Option<&Path>,
    read_tree: ReadTree,
    log: &Log,
) -> Result<(), Fault> {
    if is_initramfs(paths) {
        return Err(Fault::WrongRoot {
            path: paths.under(INITRAMFS),
            found: "exists, so this is an initramfs",
            remedy: "--live is for the root after the pivot",
        });
    }
    let line = CommandLine::read(paths);
    line.faults.iter().for_each(|fault| log.say(Level::Warning, fault));
    let network = network(paths, hosts, read_tree, &line, log)?;
    let name = network.as_ref().and_then(Ready::host_name);
    if let Some(network) = &network {
        place::write(paths, network, log)?;
        log.say(Level::Info, &network.told);
    }
    let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?;
    host_name::write(paths, &cards, name, log)
}

/// This machine's network; without one, logs a line.
fn network(
    paths: &Paths,
    hosts: Option<&Path>,
    read_tree: ReadTree,
    line: &CommandLine,
    log: &Log,
) -> Result<Option<Ready>, Fault> {
    let named = hosts.map(|path| paths.under(&path.to_string_lossy()));
    let tree = named.clone().unwrap_or_else(|| paths.under(ASSISTED));
    if let Some(tree) = tree::read(&tree, read_tree)? {
        return tree::network(paths, line, &tree, log);
    }
    let directory = match named {
        Some(path) => Some(HostsDirectory::at(path)?),
        None => HostsDirectory::find(paths, line)?,
    };
    match (directory, &line.host) {
        (None, Some(name)) => Err(Fault::NoDirectory { name: name.clone() }),
        (None, None) => {
            log.say(Level::Info, "no hosts directory: nothing to do");
            Ok(None)
        }
        (Some(_), _) if hosts.is_none() && paths.under(PERSISTED).exists() => {
            log.say(Level::Info, "the initramfs gave this system its profiles: nothing to do");
            Ok(None)
        }
        (Some(directory), _) => from_directory(paths, line, &directory, log),
    }
}

/// From a directory with a document a host, as in the initramfs.
fn from_directory(
    paths: &Paths,
    line: &CommandLine,
    directory: &HostsDirectory,
    log: &Log,
) -> Result<Option<Ready>, Fault> {
    let Some(found) = seek(paths, line, directory, Need::Network, log)? else { return Ok(None) };
    let file = directory.file(&found.choice.name);
    let names = found.names;
    expect_cards(&file, &names, line, Need::Network, log)?;
    let mut host = found.host;
    conversion::apply(&mut host, &file, &names)?;
    let configuration = conversion::configuration(&host, found.diagnostics, log)?;
    let mut ready = Ready::of(configuration, &names);
    ready.told = format!(
        "{} ({}): {} from {}{}",
        found.choice.told(),
        shown(&found.choice.reason),
        counted(ready.profiles.len(), "profile"),
        file.display(),
        renamed(&names)
    );
    Ok(Some(ready))
}

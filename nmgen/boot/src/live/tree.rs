//! assisted-service's tree: a directory for each host, with the names of its cards by MAC address, and
//! NMState, a policy with captures, or ready keyfiles.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::format::counted;
use nmgen_document::mac::Mac;

use super::keyfiles;
use super::ready::Ready;
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::live::ReadTree;
use crate::names::{Missing, Names, conversion, listed, renamed};
use crate::root::Paths;
use crate::wait::Events;
use crate::wait::cards::Cards;

/// Time without a new card after which none is expected, as in assisted-service's script.
const QUIET: Duration = Duration::from_secs(3);

/// A tree with at least one host.
pub(super) struct Tree {
    path: PathBuf,
    hosts: Vec<Host>,
    diagnostics: Diagnostics,
}

/// The tree; `None` if the directory is none.
pub(super) fn read(path: &Path, read_tree: ReadTree) -> Result<Option<Tree>, Fault> {
    if !path.is_dir() {
        return Ok(None);
    }
    let (hosts, diagnostics) = read_tree(&path.display().to_string()).map_err(Fault::Machine)?;
    Ok((!hosts.is_empty()).then(|| Tree { path: path.to_owned(), hosts, diagnostics }))
}

/// A host of this machine, and its names here.
struct OwnHost {
    host: Host,
    names: Names,
    /// The card that it was found by.
    reason: String,
}

/// The profiles of all hosts that are this machine; `None`, with a line, if none is.
pub(super) fn network(
    paths: &Paths,
    line: &CommandLine,
    tree: &Tree,
    log: &Log,
) -> Result<Option<Ready>, Fault> {
    let found = seek(paths, line, tree, log)?;
    let mut ready = Ready::default();
    let mut told = Vec::new();
    for OwnHost { host, names, reason } in found {
        let name = host.name.clone().unwrap_or_default();
        let directory = tree.path.join(&name);
        if !names.missing.is_empty() {
            let text =
                format!("{}: going on without {}", directory.display(), listed(&names.missing));
            log.say(Level::Warning, &text);
        }
        let (part, renamed) = one(host, names, &directory, &tree.diagnostics, log)?;
        let count = counted(part.profiles.len(), "profile");
        told.push(format!("{name} ({reason}): {count} from {}{renamed}", directory.display()));
        if let Some(file_name) = ready.add(part) {
            return Err(Fault::ProfileTwice { path: directory, file_name });
        }
    }
    if ready.profiles.is_empty() {
        return Ok(None);
    }
    ready.told = format!("this machine is {}", told.join("; "));
    Ok(Some(ready))
}

/// One host's profiles, and its renamed cards as the end of a message.
fn one(
    mut host: Host,
    mut names: Names,
    directory: &Path,
    diagnostics: &Diagnostics,
    log: &Log,
) -> Result<(Ready, String), Fault> {
    let mut own = Diagnostics::default();
    let is_own = |file: &str| Path::new(file).starts_with(directory);
    own.extend(diagnostics.iter().filter(|found| is_own(&found.place.file)).cloned());
    if own.has_errors() {
        return Err(Fault::Document(own));
    }
    if host.document().is_none() {
        let profiles = keyfiles::read(directory, &mut names, log)?;
        let ready = Ready { profiles, cards: names.present.clone(), ..Ready::default() };
        return Ok((ready, renamed(&names)));
    }
    let file = PathBuf::from(&*host.place.file);
    conversion::apply(&mut host, &file, &names)?;
    let configuration = conversion::configuration(&host, own, log)?;
    Ok((Ready::of(configuration, &names), renamed(&names)))
}

/// Waits for this machine's hosts and their cards, until the timeout.
fn seek(paths: &Paths, line: &CommandLine, tree: &Tree, log: &Log) -> Result<Vec<OwnHost>, Fault> {
    let events = Events::listen(paths);
    let deadline = Instant::now() + line.timeout;
    let (mut is_over, mut said) = (false, String::new());
    loop {
        let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?;
        let found = mine(tree, line, &cards)?;
        let missing: Vec<Missing> =
            found.iter().flat_map(|found| found.names.missing.clone()).collect();
        if is_over || (!found.is_empty() && missing.is_empty()) {
            if found.is_empty() {
                log.say(Level::Info, &nothing(tree, &cards));
            }
            return Ok(found);
        }
        let wanted = match found.is_empty() {
            true => "network cards".to_owned(),
            false => listed(&missing),
        };
        // A profile matches a later card by its address.
        let is_quiet = cards.are_settled();
        let until = if is_quiet { deadline.min(Instant::now() + QUIET) } else { deadline };
        if said != wanted && !(found.is_empty() && is_quiet) {
            log.say(Level::Info, &format!("waiting for {wanted}"));
            said = wanted;
        }
        is_over = !events.wait(until);
    }
}

/// The hosts with an address of this machine that no other host has, or the host of `nmgen.host=`.
fn mine(tree: &Tree, line: &CommandLine, cards: &Cards) -> Result<Vec<OwnHost>, Fault> {
    let owners = owners(&tree.hosts);
    let mut found = Vec::new();
    for host in &tree.hosts {
        let reason = match &line.host {
            Some(name) => {
                (host.name.as_ref() == Some(name)).then(|| "nmgen.host= names it".to_owned())
            }
            None => host.nics.iter().find_map(|nic| {
                let mac = nic.mac_address;
                let is_own = owners.get(&mac).is_some_and(|owners| owners.len() == 1);
                let card = cards
                    .with_mac(&mac, nic.name.as_deref().unwrap_or_default())
                    .filter(|_| is_own)?;
                Some(format!("{} has the MAC address {mac}", card.name))
            }),
        };
        let Some(reason) = reason else { continue };
        let network = host.with_mac_addresses().map_or(HostNetwork::Missing, HostNetwork::Written);
        let host = Host { network, ..host.clone() };
        let names = match host.document() {
            Some(document) => Names::find(&document.root, cards, &[]),
            None => Names::of(&host.nics, cards),
        };
        found.push(OwnHost { host, names, reason });
    }
    match &line.host {
        Some(name) if found.is_empty() => {
            Err(Fault::UnknownHost { name: name.clone(), path: tree.path.clone() })
        }
        Some(_) | None => Ok(found),
    }
}

/// The hosts of each address: one that several have, such as a fleet's management interface,
/// identifies none.
fn owners(hosts: &[Host]) -> BTreeMap<Mac, BTreeSet<Option<&str>>> {
    let mut owners: BTreeMap<Mac, BTreeSet<Option<&str>>> = BTreeMap::new();
    for host in hosts {
        for nic in &host.nics {
            owners.entry(nic.mac_address).or_default().insert(host.name.as_deref());
        }
    }
    owners
}

/// The message without a match.
fn nothing(tree: &Tree, cards: &Cards) -> String {
    let owners = owners(&tree.hosts);
    // A card of one host alone would be a match.
    let shared = cards.list.iter().filter(|card| owners.contains_key(&card.mac));
    let shared: Vec<String> = shared.map(|card| card.mac.to_string()).collect();
    let more = match shared.is_empty() {
        true => String::new(),
        false => format!(" (several hosts have {}, which identifies none)", shared.join(", ")),
    };
    format!("no host in {} matches this machine{more}: nothing to do", tree.path.display())
}

//! Chooses this machine's document, and waits for its cards.

pub(crate) mod chooser;
pub(crate) mod host_file;
pub(crate) mod listing;
mod mentions;
pub(crate) mod need;

use std::path::Path;
use std::time::Instant;

use nmgen_core::initramfs;
use nmgen_core::node::{Card, Identity, Reason};
use nmgen_core::source::Host;
use nmgen_document::diagnostic::Diagnostics;

use self::chooser::{Chooser, ChosenDocument};
use self::listing::HostsDirectory;
use self::need::{Need, is_initramfs};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::names::{Names, conversion, listed};
use crate::root::Paths;
use crate::wait::Events;
use crate::wait::cards::{self, Cards};
use crate::wait::quiet::Quiet;

/// The rest is left out, so that the message stays one line.
const MAX_ADDRESSES: usize = 8;
const MAX_NEAR: usize = 4;
/// NetworkManager's program for 802.1X and MACsec.
const SUPPLICANT: [&str; 2] = ["/usr/sbin/wpa_supplicant", "/usr/bin/wpa_supplicant"];

/// This machine's document, and its names on this machine.
pub(crate) struct OwnDocument {
    pub(crate) choice: ChosenDocument,
    pub(crate) host: Host,
    pub(crate) names: Names,
    pub(crate) diagnostics: Diagnostics,
    /// The machine's physical network cards, the document's and others.
    pub(crate) cards: Vec<Card>,
}

/// Chooses the document and waits for its cards, until the timeout. If the initramfs needs no
/// network, cards that udev has not announced yet are not waited for: profiles match them later.
pub(crate) fn seek(
    paths: &Paths,
    line: &CommandLine,
    directory: &HostsDirectory,
    need: Need,
    log: &Log,
) -> Result<Option<OwnDocument>, Fault> {
    // Listens before the first look, so that no event is lost.
    let events = Events::listen(paths);
    let start = Instant::now();
    let deadline = start + line.timeout;
    let mut chooser = Chooser::new(
        directory,
        line.host.clone(),
        Identity { host_name: cards::host_name(paths), dmi: cards::dmi(paths), cards: Vec::new() },
    );
    let mut quiet = Quiet::new(start);
    let (mut is_over, mut said) = (false, String::new());
    loop {
        let now = Instant::now();
        let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?;
        let certain = chooser.certain(&cards)?;
        let quiet = quiet.until(&cards.names, now).min(deadline);
        // A later card could have an address that a document names.
        // A driver that only the running system has brings no card.
        let are_settled = cards.are_settled() || (need == Need::Persist && cards.are_announced());
        let waits_for_quiet =
            are_settled && !cards.is_static && chooser.knows_addresses() && now < quiet;
        // Tries weaker matches only once no more cards are expected.
        let is_settled = is_over || (are_settled && !waits_for_quiet);
        chooser.warnings().iter().for_each(|warning| log.say(Level::Warning, warning));
        let choice = match certain {
            None if is_settled => chooser.fallback(&cards)?,
            choice => choice,
        };
        // Without a card nobody knows that no host's document is this machine's.
        let is_guess = |choice: &ChosenDocument| {
            let has_hosts = directory.hosts().next().is_some();
            choice.reason == Reason::Cluster && cards.list.is_empty() && has_hosts
        };
        let choice = choice.filter(|choice| need == Need::Network || !is_guess(choice));
        let mut waits_for_card = false;
        let wanted = match choice {
            None if is_settled => {
                log.say(Level::Info, &nothing(directory, &cards, &chooser.near(&cards)?));
                return Ok(None);
            }
            None => "network cards".to_owned(),
            Some(choice) => {
                let found = look_up(directory, choice, &cards)?;
                if need == Need::Network && is_initramfs(paths) {
                    let file = directory.file(&found.choice.name);
                    expect_supplicant(paths, &found, &file)?;
                }
                // A card with this name may come after the one that the file is named after.
                let is_quiet = are_settled && (cards.is_static || now >= quiet);
                let awaited = found.names.stand_in.as_ref().filter(|_| !is_quiet);
                // udev's idle moment is enough: no later card changes a document that was chosen.
                let has_names = need == Need::Persist && cards.are_announced();
                if is_over || (awaited.is_none() && (has_names || found.names.missing.is_empty())) {
                    return Ok(Some(found));
                }
                waits_for_card = are_settled && awaited.is_some();
                let wanted = match awaited {
                    Some(name) => name.clone(),
                    None => listed(&found.names.missing),
                };
                // Doesn't wait for the cards of a document with errors.
                if wanted != said {
                    conversion::check(&found.host, &found.names)?;
                }
                wanted
            }
        };
        if said != wanted {
            log.say(Level::Info, &format!("waiting for {wanted}"));
            said = wanted;
        }
        let until = if waits_for_quiet || waits_for_card { quiet } else { deadline };
        is_over = !events.wait(until) && until == deadline;
    }
}

pub(crate) fn look_up(
    directory: &HostsDirectory,
    choice: ChosenDocument,
    cards: &Cards,
) -> Result<OwnDocument, Fault> {
    let (host, diagnostics) = host_file::load(&choice.name, &directory.file(&choice.name))?;
    let names = match host.document() {
        Some(document) => Names::find(&document.root, cards, &choice.cards),
        None => Names::default(),
    };
    let open_vswitch = host.document().and_then(|document| initramfs::open_vswitch(&document.root));
    if let Some(interface) = open_vswitch.and_then(|(_, node)| node.text_at("name")) {
        let (file, interface) = (directory.file(&choice.name), interface.to_owned());
        return Err(Fault::OpenVSwitch { file, interface });
    }
    Ok(OwnDocument { choice, host, names, diagnostics, cards: cards.all.clone() })
}

/// Refuses a document that needs wpa_supplicant in an initramfs without it.
///
/// # Errors
/// [`Fault::NoSupplicant`].
pub(crate) fn expect_supplicant(
    paths: &Paths,
    found: &OwnDocument,
    file: &Path,
) -> Result<(), Fault> {
    let document = found.host.document();
    let needs_it = document.and_then(|document| initramfs::needs_supplicant(&document.root));
    match needs_it.and_then(|(_, node, _)| node.text_at("name")) {
        Some(interface) if !SUPPLICANT.iter().any(|path| paths.under(path).exists()) => {
            Err(Fault::NoSupplicant { file: file.to_owned(), interface: interface.to_owned() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Says which of the document's cards are missing.
///
/// # Errors
/// [`Fault::NoCard`]: all of them.
pub(crate) fn expect_cards(
    file: &Path,
    names: &Names,
    line: &CommandLine,
    need: Need,
    log: &Log,
) -> Result<(), Fault> {
    if names.missing.is_empty() {
        return Ok(());
    }
    let (seconds, missing) = (line.timeout.as_secs(), listed(&names.missing));
    if names.present.is_empty() && need == Need::Network {
        return Err(Fault::NoCard { file: file.to_owned(), seconds, cards: missing });
    }
    let them = if names.missing.len() == 1 { "it" } else { "them" };
    let text = match need {
        Need::Network => {
            format!("{missing} did not appear within {seconds} s; going on without {them}")
        }
        Need::Persist => format!("going on without {missing}"),
    };
    log.say(Level::Warning, &text);
    Ok(())
}

/// The message when no document matches: with the directory, the MAC addresses and ignored files.
fn nothing(directory: &HostsDirectory, cards: &Cards, near: &[String]) -> String {
    let mut text =
        format!("no document in {} matches this machine: nothing to do", directory.path.display());
    let macs: Vec<String> =
        cards.list.iter().take(MAX_ADDRESSES).map(|card| card.mac.to_string()).collect();
    if !macs.is_empty() {
        text.push_str(&format!(" (its MAC addresses: {})", macs.join(", ")));
    }
    if !near.is_empty() {
        let more = near.len().saturating_sub(MAX_NEAR);
        let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
        let near = near.iter().take(MAX_NEAR).cloned().collect::<Vec<_>>().join(", ");
        text.push_str(&format!("; {near}{more}, but no interface that is up has its address"));
    }
    if let Some((name, more)) = directory.listing.ignored.split_first() {
        let more =
            if more.is_empty() { String::new() } else { format!(" (and {} more)", more.len()) };
        text.push_str(&format!(
            "; {name}.yaml{more} is ignored: only files that end in .yml are read"
        ));
    }
    text
}

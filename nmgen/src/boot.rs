//! The initramfs stage: chooses this machine's document, maps its interface names to the machine's,
//! and writes profiles for the initramfs's NetworkManager; before switch-root, hands them to the
//! running system. User documentation: `doc/boot.md`.
//!
//! A failure is one log line; the boot goes on without nmgen.

mod card_names;
mod chooser;
mod command_line;
mod components;
mod conversion;
mod detection;
mod early;
mod events;
mod fault;
mod fields;
mod host_file;
mod identified;
mod initramfs;
mod keep;
mod kernel_log;
mod listing;
#[cfg(feature = "pipelines")]
mod live;
mod machine;
mod mark;
mod mentions;
mod missing;
mod need;
mod optional;
mod others;
mod own;
mod permanent;
mod persist;
mod profiles;
mod quiet;
mod release;
mod root;
mod root_disk;
mod rtnetlink;
mod small_file;
mod sysroot;
mod virtual_functions;

use std::path::Path;
use std::time::Instant;

use self::card_names::{Missing, Names};
use self::chooser::{Choice, Chooser, shown};
use self::command_line::CommandLine;
use self::early::Bounds;
use self::events::Events;
pub(crate) use self::fault::Fault;
pub(crate) use self::kernel_log::{Level, Log};
use self::listing::HostsDirectory;
#[cfg(feature = "pipelines")]
pub(crate) use self::live::live;
use self::machine::Cards;
use self::mark::Mark;
use self::need::Need;
use self::others::Other;
pub(crate) use self::persist::persist;
use self::quiet::Quiet;
pub(crate) use self::release::release;
pub(crate) use self::root::Paths;
use crate::diagnostic::Diagnostics;
use crate::document::Node;
use crate::format::{chain, counted};
use crate::node::Identity;
use crate::source::Host;

/// The rest is left out, so that the message stays one line.
const MAX_ADDRESSES: usize = 8;

/// The first step: from a hosts directory to profiles for the initramfs.
///
/// # Errors
/// The reason why the machine gets no profiles.
pub(crate) fn prepare(paths: &Paths, log: &Log) -> Result<(), Fault> {
    initramfs::expect(paths)?;
    let line = CommandLine::read(paths);
    line.faults.iter().for_each(|fault| log.say(Level::Warning, fault));
    if line.is_off {
        log.say(Level::Info, "nmgen=off: nothing to do");
        return Ok(());
    }
    let Some(need) = Need::of(paths, &line) else {
        log.say(Level::Info, "no network is needed, and this is no first boot: nothing to do");
        return Ok(());
    };
    let Some(directory) = HostsDirectory::find(paths, &line)? else {
        if let Some(name) = line.host {
            return Err(Fault::NoDirectory { name });
        }
        log.say(Level::Info, "no hosts directory: nothing to do");
        return Ok(());
    };
    let Some(found) = seek(paths, &line, &directory, need, log)? else { return Ok(()) };
    write(paths, &line, &directory, found, need, log)
}

/// This machine's document, and its names on this machine.
struct Found {
    choice: Choice,
    host: Host,
    names: Names,
    diagnostics: Diagnostics,
}

/// Chooses the document and waits for its cards, until the timeout. If the initramfs needs no
/// network, cards that udev has not announced yet are not waited for: profiles match them later.
fn seek(
    paths: &Paths,
    line: &CommandLine,
    directory: &HostsDirectory,
    need: Need,
    log: &Log,
) -> Result<Option<Found>, Fault> {
    // Listens before the first look, so that no event is lost.
    let events = Events::listen(paths);
    let start = Instant::now();
    let deadline = start + line.timeout;
    let mut chooser = Chooser::new(
        directory,
        line.host.clone(),
        Identity {
            host_name: machine::host_name(paths),
            dmi: machine::dmi(paths),
            cards: Vec::new(),
        },
    );
    let mut quiet = Quiet::new(start);
    let (mut is_over, mut said) = (false, String::new());
    loop {
        let now = Instant::now();
        let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?;
        let certain = chooser.certain(&cards)?;
        let quiet = quiet.until(&cards.names, now).min(deadline);
        // A later card could have an address that a document names.
        let waits_for_quiet =
            cards.are_settled() && !cards.is_static && chooser.knows_addresses() && now < quiet;
        // Tries weaker matches only once no more cards are expected.
        let is_settled = is_over || (cards.are_settled() && !waits_for_quiet);
        chooser.warnings().iter().for_each(|warning| log.say(Level::Warning, warning));
        let choice = match certain {
            None if is_settled => chooser.fallback(&cards)?,
            choice => choice,
        };
        let wanted = match choice {
            None if is_settled => {
                log.say(Level::Info, &nothing(directory, &cards));
                return Ok(None);
            }
            None => "network cards".to_owned(),
            Some(choice) => {
                let found = look_up(directory, choice, &cards)?;
                // udev's idle moment is enough: no later card changes a document that was chosen.
                let has_names =
                    need == Need::Persist && cards.are_settled() && !found.names.present.is_empty();
                if found.names.missing.is_empty() || is_over || has_names {
                    return Ok(Some(found));
                }
                let wanted = listed(&found.names.missing);
                // Doesn't wait for the cards of a document with errors.
                if wanted != said {
                    conversion::check(&found.host)?;
                }
                wanted
            }
        };
        if said != wanted {
            log.say(Level::Info, &format!("waiting for {wanted}"));
            said = wanted;
        }
        let until = if waits_for_quiet { quiet } else { deadline };
        is_over = !events.wait(until) && until == deadline;
    }
}

fn look_up(directory: &HostsDirectory, choice: Choice, cards: &Cards) -> Result<Found, Fault> {
    let (host, diagnostics) = host_file::load(&choice.name, &directory.file(&choice.name))?;
    let names = match &host.document {
        Some(document) => Names::find(&document.root, cards, &choice.cards),
        None => Names::default(),
    };
    if let Some(interface) = host.document.as_ref().and_then(|it| open_vswitch(&it.root)) {
        let (file, interface) = (directory.file(&choice.name), interface.to_owned());
        return Err(Fault::OpenVSwitch { file, interface });
    }
    Ok(Found { choice, host, names, diagnostics })
}

/// The first interface of Open vSwitch's, which the initramfs has no database and no plugin for.
fn open_vswitch<'r>(root: &'r Node<'_>) -> Option<&'r str> {
    let is_one = |node: &&Node<'_>| {
        node.text_at("type").is_some_and(|kind| kind.starts_with("ovs-"))
            && matches!(node.text_at("state"), None | Some("up" | "down"))
    };
    fields::interfaces(root).find(is_one)?.text_at("name")
}

/// Converts the document with the machine's names, and writes the profiles.
fn write(
    paths: &Paths,
    line: &CommandLine,
    directory: &HostsDirectory,
    found: Found,
    need: Need,
    log: &Log,
) -> Result<(), Fault> {
    let Found { choice, mut host, names, diagnostics } = found;
    let file = directory.file(&choice.name);
    expect_cards(&file, &names, line, need, log)?;
    conversion::apply(&mut host, &file, &names)?;
    let bounds = Bounds::new(line, host.document.as_ref().map(|document| &document.root));
    let mut configuration = conversion::configuration(host, diagnostics, log)?;
    let carriers = profiles::carriers(paths, line)?;
    let left_out = root_disk::leave_out(&mut configuration, &carriers, &names);
    if !left_out.is_empty() {
        let text = format!(
            "the root disk is on the network: {} of {} left out, as {} carries it",
            left_out.join(", "),
            file.display(),
            carriers.iter().map(Other::name).collect::<Vec<_>>().join(", ")
        );
        log.say(Level::Warning, &text);
    }
    let (count, reason) = (configuration.profiles.len(), shown(&choice.reason));
    if configuration.profiles.is_empty() {
        let more = if left_out.is_empty() { "" } else { " besides" };
        let text = format!("{} configures no network{more} ({reason})", file.display());
        log.say(Level::Info, &text);
        return Ok(());
    }
    let text = host_file::bytes(&file)?;
    let displaced = match need {
        Need::Network => profiles::write(paths, &configuration, &names, &bounds, line, log)?,
        Need::Persist => {
            profiles::stage_only(paths, &configuration, &names, line)?;
            Vec::new()
        }
    };
    if let Err(fault) = Mark::of(paths, &choice.name, &text, &names.present).stage(paths) {
        // The network is there: the mark's fields are no reason to lose it.
        log.say(Level::Warning, &chain(&fault));
    }
    let purpose = match need {
        Need::Network => "",
        Need::Persist => ", for the running system only",
    };
    let text = format!(
        "this machine is {} ({reason}): {} from {}{purpose}{}",
        choice.name,
        counted(count, "profile"),
        file.display(),
        renamed(&names)
    );
    log.say(Level::Info, &text);
    for path in displaced {
        log.say(Level::Info, &format!("{} gives way to it", path.display()));
    }
    Ok(())
}

/// Says which of the document's cards are missing.
///
/// # Errors
/// [`Fault::NoCard`]: all of them.
fn expect_cards(
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
    if names.present.is_empty() {
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

/// The machine's names for the document's, as the end of a message.
fn renamed(names: &Names) -> String {
    names.renamed().map(|(name, here)| format!("; {name} is {here}")).collect()
}

/// The message when no document matches: with the directory, the MAC addresses and ignored files.
fn nothing(directory: &HostsDirectory, cards: &Cards) -> String {
    let mut text =
        format!("no document in {} matches this machine: nothing to do", directory.path.display());
    let macs: Vec<String> =
        cards.list.iter().take(MAX_ADDRESSES).map(|card| card.mac.to_string()).collect();
    if !macs.is_empty() {
        text.push_str(&format!(" (its MAC addresses: {})", macs.join(", ")));
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

fn listed(missing: &[Missing]) -> String {
    let names: Vec<String> = missing.iter().map(ToString::to_string).collect();
    names.join(", ")
}

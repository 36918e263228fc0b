//! `nmgen boot --explain`, for an emergency shell: which document is this machine's and why, which are not, whose the profiles are,
//! and which cards have one. Changes nothing, and waits for nothing.

use std::fmt::Arguments;

use nmgen_core::node::Identity;
use nmgen_document::format::{chain, counted, printable};

use crate::choose::chooser::{Chooser, shown};
use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, is_initramfs};
use crate::choose::{expect_supplicant, look_up};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::names::{conversion, listed as missing, renamed};
use crate::persist::own;
use crate::persist::sysroot::Sysroot;
use crate::root::{Paths, RUN_PROFILES};
use crate::wait::cards::{self, Cards};
use crate::write::others::Other;
use crate::write::profiles::{displaced_ones, early_names, listed, staged};
use crate::write::root_disk;

/// Adds a line.
macro_rules! put {
    ($text:ident, $($line:tt)*) => {
        add($text, format_args!($($line)*))
    };
}

/// Documents that match nothing are counted from here on.
const MAX_DOCUMENTS: usize = 20;

/// The whole account.
///
/// # Errors
/// The machine's devices or a directory cannot be read.
pub(crate) fn explain(paths: &Paths) -> Result<String, Fault> {
    let line = CommandLine::read(paths);
    let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?;
    let mut account = String::new();
    let text = &mut account;
    for fault in &line.faults {
        put!(text, "the kernel command line: {fault}");
    }
    if line.is_off {
        put!(text, "nmgen=off: nmgen does nothing in this boot");
    }
    let need = Need::of(paths, &line);
    let told = match need {
        Some(Need::Network) => "the initramfs brings a network up",
        Some(Need::Persist) => "the initramfs needs no network; the running system gets profiles",
        None => "the initramfs needs no network, and this is no first boot",
    };
    put!(text, "{told}");
    documents(paths, &line, &cards, text);
    profiles(paths, &line, &cards, text)?;
    Ok(account)
}

/// Adds a line, and one before it that is empty where it begins so. The names of files may have every character.
fn add(text: &mut String, line: Arguments<'_>) {
    let line = line.to_string();
    let line = line.strip_prefix('\n').map_or(&*line, |line| {
        text.push('\n');
        line
    });
    text.push_str(&printable(line));
    text.push('\n');
}

/// The choice, its fault if it has one, and the documents that were not chosen.
fn documents(paths: &Paths, line: &CommandLine, cards: &Cards, text: &mut String) {
    let directory = match HostsDirectory::find(paths, line) {
        Ok(Some(directory)) => directory,
        Ok(None) => {
            put!(text, "\nno hosts directory has a document");
            return;
        }
        Err(fault) => {
            put!(text, "\n{}", chain(&fault));
            return;
        }
    };
    let count = counted(directory.listing.names.len(), "document");
    put!(text, "\n{} has {count}", directory.path.display());
    let identity =
        Identity { host_name: cards::host_name(paths), dmi: cards::dmi(paths), cards: Vec::new() };
    let mut chooser = Chooser::new(&directory, line.host.clone(), identity);
    let chosen = chooser.certain(cards).and_then(|choice| match choice {
        Some(choice) => Ok(Some(choice)),
        None => chooser.fallback(cards),
    });
    for warning in chooser.warnings() {
        put!(text, "  {warning}");
    }
    let mut known: Vec<String> = Vec::new();
    match chosen {
        Err(fault) => put!(text, "  chosen: none: {}", chain(&fault)),
        Ok(None) => put!(text, "  chosen: none"),
        Ok(Some(choice)) => {
            put!(text, "  chosen: {}.yml: {}", choice.name, shown(&choice.reason));
            known.push(choice.name.clone());
            let file = directory.file(&choice.name);
            let found = look_up(&directory, choice, cards).and_then(|found| {
                if is_initramfs(paths) && Need::of(paths, line) == Some(Need::Network) {
                    expect_supplicant(paths, &found, &file)?;
                }
                conversion::check(&found.host, &found.names)?;
                Ok(found)
            });
            match found {
                Err(fault) => put!(text, "    it cannot be used: {}", chain(&fault)),
                Ok(found) => {
                    let renamed = renamed(&found.names);
                    if !renamed.is_empty() {
                        put!(text, "    {}", renamed.trim_start_matches("; "));
                    }
                    if !found.names.missing.is_empty() {
                        let missing = missing(&found.names.missing);
                        put!(text, "    this machine lacks {missing}");
                    }
                }
            }
        }
    }
    for candidate in chooser.matches(cards) {
        let name = directory.document(&candidate.name).to_owned();
        if !known.contains(&name) {
            let reason = shown(&candidate.reason);
            put!(text, "  not chosen: {name}.yml, though {reason}");
            known.push(name);
        }
    }
    // A file that cannot be read is told where it matters.
    for near in chooser.near(cards).unwrap_or_default() {
        if !known.iter().any(|name| near.starts_with(&format!("{name}.yml "))) {
            let told = format!("  not chosen: {near}, but no interface that is up has its address");
            put!(text, "{told}");
            known.extend(near.split_once(".yml ").map(|(name, _)| name.to_owned()));
        }
    }
    let rest: Vec<&String> =
        directory.listing.names.iter().filter(|name| !known.contains(name)).collect();
    for name in rest.iter().take(MAX_DOCUMENTS) {
        put!(text, "  not chosen: {name}.yml: nothing of it is this machine's");
    }
    if let more @ 1.. = rest.len().saturating_sub(MAX_DOCUMENTS) {
        put!(text, "  and {more} more");
    }
    for name in directory.listing.ignored.iter().take(MAX_DOCUMENTS) {
        put!(text, "  not read: {name}.yaml: only files that end in .yml are");
    }
}

/// The profiles of the initramfs and of the running system, and the cards.
fn profiles(
    paths: &Paths,
    line: &CommandLine,
    cards: &Cards,
    text: &mut String,
) -> Result<(), Fault> {
    let early = early_names(paths)?;
    let present = listed(paths.under(RUN_PROFILES))?;
    let file =
        |other: &Other| other.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let whose = |other: &Other| {
        if early.contains(&file(other)) {
            "the document's"
        } else if root_disk::is_firmwares(other) {
            "the firmware's"
        } else if other.is_generated() {
            "the kernel command line's"
        } else {
            "a person's"
        }
    };
    put!(text, "\n{}", paths.under(RUN_PROFILES).display());
    for other in &present {
        let carries =
            if root_disk::is_carried_by(other, line) { ", for the root disk" } else { "" };
        put!(text, "  {}: {}{carries}", file(other), whose(other));
    }
    for other in displaced_ones(paths)? {
        put!(text, "  {} gave way to the document's", file(&other));
    }
    let staged = staged(paths)?;
    if !staged.is_empty() {
        let names: Vec<String> = staged.iter().map(file).collect();
        put!(text, "  for the running system: {}", names.join(", "));
    }
    if let Ok(root) = Sysroot::open(paths) {
        put!(text, "\nthe running system");
        for other in own::list(&root)? {
            put!(text, "  {}", other.path.display());
        }
    }
    put!(text, "\ncards");
    for card in &cards.all {
        let its: Vec<String> =
            present.iter().filter(|other| other.covers(card)).map(file).collect();
        let its = if its.is_empty() { "no profile".to_owned() } else { its.join(", ") };
        put!(text, "  {} ({}): {its}", card.name, card.mac);
    }
    Ok(())
}

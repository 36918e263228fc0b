//! Writes the chosen document's profiles for the initramfs.

pub(crate) mod components;
mod detection;
mod early;
pub(crate) mod given;
pub(crate) mod mark;
mod name_servers;
pub(crate) mod operators;
pub(crate) mod others;
pub(crate) mod profiles;
pub(crate) mod root_disk;
pub(crate) mod way_out;

use std::path::Path;

use nmgen_core::node::Card;
use nmgen_core::profile::{Configuration, Profile};
use nmgen_document::format::{chain, counted};

use self::early::Bounds;
use self::mark::Mark;
use self::others::Other;
use self::profiles::{TargetMachine, listed};
use crate::choose::chooser::shown;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::Need;
use crate::choose::{OwnDocument, expect_cards, host_file};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::names::{Names, conversion, renamed};
use crate::root::{Paths, RUN_PROFILES};

/// Converts the document with the machine's names, and writes the profiles.
pub(crate) fn write(
    paths: &Paths,
    line: &CommandLine,
    directory: &HostsDirectory,
    found: OwnDocument,
    need: Need,
    log: &Log,
) -> Result<(), Fault> {
    let OwnDocument { choice, mut host, mut names, diagnostics, cards } = found;
    let file = directory.file(&choice.name);
    expect_cards(&file, &names, line, need, log)?;
    conversion::apply(&mut host, &file, &names)?;
    let bounds = Bounds::new(line, host.document().map(|document| &document.root));
    let mut configuration = conversion::configuration(&host, diagnostics, log)?;
    profiles::forget(paths, |_| true)?;
    let others = listed(paths.under(RUN_PROFILES))?;
    let is_left_out = give_way(&mut configuration, &mut names, &others, line, &file, log);
    let (count, reason) = (configuration.profiles.len(), shown(&choice.reason));
    if configuration.profiles.is_empty() {
        let more = if is_left_out { " besides" } else { "" };
        let text = format!("{} configures no network{more} ({reason})", file.display());
        log.say(Level::Info, &text);
        return Ok(());
    }
    let text = host_file::bytes(&file)?;
    let machine = TargetMachine { names: &names, cards: &cards, others };
    let displaced = match need {
        Need::Network => profiles::write(paths, &configuration, machine, &bounds, line, log)?,
        Need::Persist => {
            profiles::stage(paths, &configuration, &names, line)?;
            Vec::new()
        }
    };
    if let Err(fault) = Mark::of(paths, &choice.name, &text, &cards).stage(paths) {
        // The network is there: the mark's fields are no reason to lose it.
        log.say(Level::Warning, &chain(&fault));
    }
    let purpose = match need {
        Need::Network => "",
        Need::Persist => ", for the running system only",
    };
    let text = format!(
        "{} ({reason}): {} from {}{purpose}{}",
        choice.told(),
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

/// Leaves the document's components out that the root disk or a person's profiles are for, each with a warning. True if there is
/// one.
fn give_way(
    configuration: &mut Configuration,
    names: &mut Names,
    others: &[Other],
    line: &CommandLine,
    file: &Path,
    log: &Log,
) -> bool {
    let ids = |profiles: &[Profile]| {
        let ids: Vec<&str> = profiles.iter().map(|profile| profile.id.as_str()).collect();
        ids.join(", ")
    };
    let is_carrier = |other: &&Other| {
        root_disk::is_carried_by(other, line) && !operators::is_ours(other, configuration)
    };
    let carriers: Vec<&Other> = others.iter().filter(is_carrier).collect();
    let mut left_out = root_disk::leave_out(configuration, &carriers, names);
    if !left_out.is_empty() {
        let text = format!(
            "the root disk is on the network: {} of {} left out, as {} carries it",
            ids(&left_out),
            file.display(),
            carriers.iter().map(|carrier| carrier.name()).collect::<Vec<_>>().join(", ")
        );
        log.say(Level::Warning, &text);
    }
    let (others_own, reasons) = operators::leave_out(configuration, others, &names.present);
    if !others_own.is_empty() {
        let text = format!(
            "{} of {} left out: somebody gave this initramfs profiles for the same ({})",
            ids(&others_own),
            file.display(),
            reasons.join(", ")
        );
        log.say(Level::Warning, &text);
    }
    left_out.extend(others_own);
    let is_its =
        |card: &Card| left_out.iter().any(|profile| operators::as_other(profile).covers(card));
    names.present.retain(|card| !is_its(card));
    !left_out.is_empty()
}

//! Writes the chosen document's profiles for the initramfs.

pub(crate) mod components;
mod detection;
mod early;
pub(crate) mod mark;
pub(crate) mod others;
pub(crate) mod profiles;
pub(crate) mod root_disk;

use nmgen_document::format::{chain, counted};

use self::early::Bounds;
use self::mark::Mark;
use self::others::Other;
use crate::choose::chooser::shown;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::Need;
use crate::choose::{Found, expect_cards, host_file};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::names::{conversion, renamed};
use crate::root::Paths;

/// Converts the document with the machine's names, and writes the profiles.
pub(crate) fn write(
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
    let bounds = Bounds::new(line, host.document().map(|document| &document.root));
    let mut configuration = conversion::configuration(&host, diagnostics, log)?;
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

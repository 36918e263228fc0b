//! `nmgen boot`: the stage of an initramfs and that of a live root. Chooses this machine's document, maps its interface names to
//! the machine's, and writes profiles for the initramfs's NetworkManager; before switch-root, hands them to the running system.
//! User documentation: `doc/boot.md`.
//!
//! The stages, each a module: `wait` (for cards) -> `names` (of this machine) -> `choose` -> `write` -> `persist`; `live` has all
//! of them in one step. A failure is one log line; the boot goes on without nmgen.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

// The program's, not the library's.
use lexopt as _;

mod choose;
mod command_line;
mod explain;
mod fault;
mod files;
mod kernel_log;
mod live;
mod names;
mod persist;
mod root;
mod rtnetlink;
mod wait;
mod write;

use std::io::{self, Write as _};
use std::path::Path;

use nmgen_document::error::Error;
use nmgen_document::format::chain;

use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, expect_initramfs};
use crate::choose::seek;
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
pub use crate::live::ReadTree;
use crate::root::Paths;

/// The help of `nmgen boot`, at most 80 columns wide.
pub const HELP: &str = "\
This machine's document is the first of these:
  nmgen.host=NAME   on the kernel command line: NAME.yml
  MAC address       a mac-address in a document, or aa-bb-cc-dd-ee-ff.yml
  MAC prefix        52-54-00.yml, for machines with random addresses
  DMI               SERIAL.yml or UUID.yml
  host name         NAME.yml, unless the name is a placeholder
  cluster.yml       for all other machines

Two documents that match equally well are an error. Without a match
nothing is written.

The hosts directory is /etc/nmgen, else /run/nmgen, else nmgen.dir=DIR on
the kernel command line. nmgen waits for the network cards of the document:
nmgen.timeout=SECONDS, 60 by default.

A card's name in the document means the card with its MAC address; this
machine's name of the card replaces it in all fields.

Messages go to the kernel log too. After an error the units let the boot go
on with the initramfs's own network. boot.md in the documentation describes
the dracut module and the files that persist.";

/// A step of a boot.
#[derive(Debug, Clone, Copy)]
pub enum Step {
    /// In the initramfs: profiles for its NetworkManager, and files for the running system.
    Prepare,
    /// Before the pivot: brings the files to `/sysroot`.
    Persist,
    /// After NetworkManager has stopped: interfaces go back to the running system.
    Release,
    /// Prints an account of the choice, the profiles and the cards; changes nothing.
    Explain,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It is done, or there was nothing to do.
    Done,
    /// The documents or the kernel's command line are wrong.
    InputWrong,
    /// This machine failed.
    Failed,
}

/// Carries a step out, below this root. Messages go to the journal, or to the kernel log and standard error, a line each; a
/// panic too.
pub fn run(root: &Path, step: Step) -> End {
    let (paths, log) = opened(root);
    let (done, outcome) = match step {
        Step::Prepare => {
            (prepare(&paths, &log), "the boot goes on with the initramfs's own network")
        }
        Step::Persist => (persist::persist(&paths, &log), "the running system may lack profiles"),
        Step::Release => {
            (persist::release::release(&paths, &log), "interfaces stay as the initramfs has them")
        }
        Step::Explain => {
            (explain::explain(&paths).and_then(|text| print(&text)), "nothing is changed")
        }
    };
    ended(done, outcome, &log)
}

/// In a live root, before NetworkManager starts: final profiles, from a hosts directory or assisted-service's tree (`None` for
/// the usual places). No step, so that the initramfs's program is without it.
pub fn run_live(root: &Path, hosts: Option<&Path>, read_tree: ReadTree) -> End {
    let (paths, log) = opened(root);
    let done = live::live(&paths, hosts, read_tree, &log);
    ended(done, "the system keeps the profiles that it has", &log)
}

/// The tree and its log, which says panics too.
fn opened(root: &Path) -> (Paths, Log) {
    let paths = Paths::new(root);
    Log::open(&paths).say_panics();
    let log = Log::open(&paths);
    (paths, log)
}

fn ended(done: Result<(), Fault>, outcome: &str, log: &Log) -> End {
    let Err(fault) = done else { return End::Done };
    log.say(Level::Error, &format!("{}; {outcome}", chain(&fault)));
    if fault.is_input() { End::InputWrong } else { End::Failed }
}

fn print(text: &str) -> Result<(), Fault> {
    let mut output = io::stdout().lock();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|source| Fault::Machine(Error::WriteOutput { source }))
}

/// The first step: from a hosts directory to profiles for the initramfs.
///
/// # Errors
/// The reason why the machine gets no profiles.
fn prepare(paths: &Paths, log: &Log) -> Result<(), Fault> {
    expect_initramfs(paths)?;
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
    write::write(paths, &line, &directory, found, need, log)
}

#[cfg(test)]
mod tests {
    mod never_less;
}

//! The second step, before switch-root: hands the first step's files to the running system.
//!
//! A profile in `/run` would survive too, but NetworkManager prefers it to one with the same uuid in
//! `/etc` (nms-keyfile-storage.c), so each boot would undo the running system's changes. So profiles
//! go to `/etc`, once, and none stays in `/run`.

pub(crate) mod digests;
mod hand_over;
mod keep;
pub(crate) mod own;
mod plan;
mod refusal;
pub(crate) mod release;
mod supplicant;
mod survivors;
pub(crate) mod sysroot;
mod system;
use std::io;

use nmgen_document::format::chain;

use self::hand_over::{HandOver, contents};
use self::keep::keep;
use self::plan::{Plan, ProfileFacts};
use self::sysroot::Sysroot;
use self::system::System;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, expect_initramfs};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::root::{PERSISTED, Paths, STAGE};
use crate::wait::cards::Cards;
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::{early_names, forget, staged};

/// Copies profiles, host name and .link files into the file system at `/sysroot`, unless it has its
/// own. Records the interfaces that the running system gets no profile for.
///
/// # Errors
/// The profiles could not be written. Then they last for this boot.
pub(crate) fn persist(paths: &Paths, log: &Log) -> Result<(), Fault> {
    expect_initramfs(paths)?;
    let line = CommandLine::read(paths);
    if !paths.under(STAGE).exists() {
        without_document(paths, &line, log);
        return Ok(());
    }
    let (mut staged, early) = (staged(paths)?, early_names(paths)?);
    let count = staged.len();
    let files = contents(&staged, log);
    staged.retain(|profile| files.iter().any(|file| file.name == profile.file_name()));
    let is_whole = staged.len() == count;
    let mark = Mark::staged(paths).unwrap_or_else(|fault| {
        log.say(Level::Error, &chain(&fault));
        Mark::default()
    });
    let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?.all;
    let others = survivors::all(paths, &early)?;
    // Where the running system gets no profile of the document's, what gave way to it is as before.
    let back = |given: &[&Other]| survivors::wanted(&others, given, &cards);
    let (back, kept, done) = match Sysroot::open(paths).and_then(System::look) {
        Ok(system) => {
            let (line, system, mark) = (&line, &system, &mark);
            let plan = Plan::new(&ProfileFacts {
                line,
                system,
                staged: &staged,
                early: &early,
                others: &others,
                are_others_copied: survivors::are_copied(paths, line, &system.root),
                cards: &cards,
                mark,
            });
            let (plan, files) = (&plan, &files);
            let hand_over = HandOver { paths, line, system, plan, files, is_whole, mark, log };
            let (kept, done) = hand_over.run();
            (back(&plan.given), kept, done)
        }
        Err(fault) => (back(&staged.iter().collect::<Vec<_>>()), files, Err(fault)),
    };
    // The full profiles, not those with the initramfs's bounds.
    if let Err(fault) = keep(paths, &kept) {
        log.say(Level::Error, &chain(&fault));
    }
    forget(paths, |other| back.iter().any(|profile| profile.path == other.path))?;
    match done {
        Err(fault) if is_read_only(&fault) => {
            let text = "the root file system is read-only: the profiles last for this boot";
            log.say(Level::Info, text);
            Ok(())
        }
        done => done,
    }
}

/// Says that the initramfs had its network without the document that the running system's came from.
fn without_document(paths: &Paths, line: &CommandLine, log: &Log) {
    let has_documents = HostsDirectory::find(paths, line).is_ok_and(|found| found.is_some());
    if has_documents || Need::of(paths, line) != Some(Need::Network) {
        return;
    }
    let mark = Sysroot::open(paths).and_then(|root| root.place(PERSISTED));
    // Without a readable mark there is nothing to compare with.
    let Ok(Some(mark)) = mark.and_then(|place| Mark::read(&place)) else { return };
    let host = if mark.host.is_empty() { "an earlier boot" } else { &mark.host };
    let text = format!(
        "this initramfs has no document for this machine, and the running system has that of {host}: a \
         disk that needs the network needs it in the initramfs of every boot, or as kernel arguments"
    );
    log.say(Level::Warning, &text);
}

fn is_read_only(fault: &Fault) -> bool {
    let Fault::Machine(error) = fault else { return false };
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

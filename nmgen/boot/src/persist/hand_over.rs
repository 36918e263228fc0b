//! The hand-over itself: what the running system lacks is written into it.

use std::fs;
use std::path::Path;

use nmgen_core::node::{Card, HostName};
use nmgen_core::write::{self, File};
use nmgen_document::format::{chain, counted};

use super::digests::DIGESTS;
use super::sysroot::Sysroot;
use super::system::System;
use super::{release, supplicant, survivors};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::root::{EARLY_HOST_NAME, ETC_PROFILES, PERSISTED, Paths, STAGE};
use crate::wait::cards::line;
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::{copy, early_names, without_profile};

const LINKS: &str = "/etc/systemd/network";
const HOST_NAME: &str = "/etc/hostname";
const CRYPTTAB: &str = "/etc/crypttab";

/// SELinux: the initramfs loads no policy, so files written there have no labels. systemd-tmpfiles of
/// the running system restores them before NetworkManager starts; see tmpfiles.d(5). Earlier versions left digests of profiles and
/// of the document readable for all.
const LABELS_FILE: &str = "/run/tmpfiles.d/nmgen.conf";
const LABELS: &str = "\
# Written by nmgen boot: labels for what it gave this system.
Z /etc/NetworkManager/system-connections
Z /etc/systemd/network
Z /etc/nmgen
z /etc/nmgen/persisted* 0600
z /etc/hostname
";

/// The outcome of a hand-over.
#[derive(Default)]
pub(super) struct Handed {
    /// Profiles that last for this boot only.
    pub(super) kept: Vec<File>,
    /// The file names of nmgen's profiles that the running system has at the end.
    pub(super) is_given: Vec<String>,
}

/// The parts of a hand-over.
pub(super) struct HandOver<'a> {
    pub(super) paths: &'a Paths,
    pub(super) system: &'a System,
    pub(super) line: &'a CommandLine,
    /// nmgen's profiles.
    pub(super) profiles: &'a [Other],
    /// The initramfs's other profiles.
    pub(super) others: &'a [Other],
    pub(super) cards: &'a [Card],
    pub(super) log: &'a Log,
}

impl HandOver<'_> {
    /// Writes what the running system lacks, and reports the profiles that could not be written, with the fault.
    pub(super) fn run(&self) -> Result<(Handed, Result<(), Fault>), Fault> {
        let Self { paths, system, line, profiles, others, cards, log } = *self;
        let mark = Mark::staged(paths)?;
        let refused = system.refuses(line, profiles, others, cards, &mark);
        let lacking = match &refused {
            Some((level, reason)) => {
                log.say(*level, reason);
                Vec::new()
            }
            None => system.lacks(profiles, cards, log),
        };
        if system.mark.is_some() && refused.is_none() {
            let text = "profiles of an earlier hand-over are for cards that this machine lacks: those that nobody has edited are \
                        written anew";
            log.say(Level::Warning, text);
        }
        let is_lacking = |profile: &&Other| lacking.iter().any(|it| it.path == profile.path);
        let rest: Vec<&Other> = profiles.iter().filter(|it| !is_lacking(it)).collect();
        let is_known = |it: &&&Other| system.there(it).is_some_and(|own| system.is_unedited(own));
        let own: Vec<String> = rest.iter().filter(|it| !is_known(it)).map(|it| it.name()).collect();
        if refused.is_none() && !own.is_empty() {
            let text = format!("the running system has its own network for {}", own.join(", "));
            log.say(Level::Info, &text);
        }
        // Without a profile of nmgen's in this boot, an interface is others'.
        let early = early_names(paths)?;
        let is_early = |it: &&&Other| {
            let name = it.path.file_name().unwrap_or_default().to_string_lossy();
            early.iter().any(|it| *it == name)
        };
        let active: Vec<&Other> = rest.iter().filter(is_early).copied().collect();
        let mut releases = system.releases(line, &active, cards, log);
        let all: Vec<&Other> = profiles.iter().filter(|it| is_early(&it)).collect();
        releases.extend(supplicant::releases(&releases, line, &all, cards, log));
        if let Err(fault) = release::record(paths, &releases) {
            log.say(Level::Warning, &chain(&fault));
        }
        let name = |profile: &Other| {
            profile.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        let there = rest.iter().filter(|it| system.there(it).is_some());
        let mut is_given: Vec<String> = there.map(|it| name(it)).collect();
        if refused.is_some() {
            // A power cut may have ended the boot that wrote the files before their labels were restored.
            if system.mark.is_some()
                && let Err(fault) = readable(&paths.under(LABELS_FILE), LABELS.into())
            {
                log.say(Level::Warning, &chain(&fault));
            }
            if line.persist == Some(false) {
                forget_host_name(paths)?;
            }
            return Ok((Handed { kept: Vec::new(), is_given }, Ok(())));
        }
        is_given.extend(lacking.iter().map(|it| name(it)));
        let remains = system.remains(profiles, &lacking, cards);
        let files = contents(lacking.iter().copied())?;
        let directory = system.root.place(ETC_PROFILES)?;
        let written = parents(&directory)
            .and_then(|()| write::write(&directory, &files).map_err(Fault::Machine));
        if written.is_err() {
            // A profile in /etc must not be in /run too, where NetworkManager prefers it.
            let is_there = |file: &File| {
                files::read(&directory.join(&file.name))
                    .is_ok_and(|content| content == file.content)
            };
            let kept = files.into_iter().filter(|file| !is_there(file)).collect();
            return Ok((Handed { kept, is_given }, written));
        }
        if !files.is_empty() {
            let text = format!("the running system got {}", counted(files.len(), "profile"));
            log.say(Level::Info, &text);
        }
        for own in remains {
            match files::remove(&own.path) {
                Ok(()) => {
                    let text = format!("{} of an earlier hand-over is removed", own.path.display());
                    log.say(Level::Info, &text);
                }
                Err(fault) => log.say(Level::Warning, &chain(&fault)),
            }
        }
        // The network is there: the rest is no reason to lose it.
        for done in [
            self.give_others(),
            host_name(paths, &system.root),
            link_files(paths, &system.root),
            readable(&paths.under(LABELS_FILE), LABELS.into()),
            give_mark(system, profiles, &mark),
        ] {
            done.unwrap_or_else(|fault| log.say(Level::Warning, &chain(&fault)));
        }
        if line.has_network_root || has_network_disk(&system.root) {
            let text = "a disk of this machine needs the network at every boot: each boot's initramfs needs \
                        the document, or kernel arguments";
            log.say(Level::Warning, text);
        }
        Ok((Handed { kept: Vec::new(), is_given }, Ok(())))
    }

    /// Hands the initramfs's other profiles over where coreos-teardown-initramfs would have done so, and names cards without one.
    fn give_others(&self) -> Result<(), Fault> {
        let Self { paths, system, line, profiles, others, cards, log } = *self;
        let is_given = |own: &Other| system.is_given(own, profiles, others);
        if !survivors::are_copied(paths, line)
            || !survivors::has_no_network(&system.root, &system.own, is_given)
        {
            return Ok(());
        }
        let given: Vec<&Other> = profiles.iter().collect();
        let wanted = survivors::wanted(others, &given, cards);
        let files = wanted.iter().map(|it| copy(it)).collect::<Result<Vec<File>, Fault>>()?;
        if !files.is_empty() {
            let directory = system.root.place(ETC_PROFILES)?;
            parents(&directory)?;
            write::write(&directory, &files).map_err(Fault::Machine)?;
            let names: Vec<String> = wanted.iter().map(|it| it.name()).collect();
            let text = format!(
                "the running system got the initramfs's other profiles too: {}",
                names.join(", ")
            );
            log.say(Level::Info, &text);
        }
        let before: Vec<&Other> = others.iter().filter(|it| !it.is_plain_default()).collect();
        let after: Vec<&Other> = given.into_iter().chain(wanted).collect();
        let without = without_profile(cards, &before, &after);
        let without: Vec<&str> = without.map(|card| card.name.as_str()).collect();
        if !without.is_empty() {
            let text = format!("the running system has no profile for {}", without.join(", "));
            log.say(Level::Warning, &text);
        }
        Ok(())
    }
}

/// Writes the mark, after the digests of nmgen's profiles in the running system that are as this boot's first step staged them.
fn give_mark(system: &System, profiles: &[Other], mark: &Mark) -> Result<(), Fault> {
    let directory = system.root.place(ETC_PROFILES)?;
    let mut digests = system.digests.clone();
    for file in contents(profiles.iter())? {
        if files::read(&directory.join(&file.name)).is_ok_and(|content| content == file.content) {
            digests.add(&file);
        }
    }
    private(&system.root.place(DIGESTS)?, digests.text().into_bytes())?;
    private(&system.root.place(PERSISTED)?, mark.text().into_bytes())
}

/// Keeps coreos-teardown-initramfs from handing the document's host name over.
fn forget_host_name(paths: &Paths) -> Result<(), Fault> {
    let name = content(&paths.under(STAGE).join(HOST_NAME.trim_start_matches('/')))?;
    let early = paths.under(EARLY_HOST_NAME);
    // Another one is from `ip=`.
    if name.is_some() && content(&early)? == name { files::remove(&early) } else { Ok(()) }
}

/// True when a disk is unlocked over the network: crypttab(5).
fn has_network_disk(root: &Sysroot) -> bool {
    let text = root.place(CRYPTTAB).ok().and_then(|place| content(&place).ok().flatten());
    let text = text.unwrap_or_default();
    let is_one = |line: &str| {
        let options = line.split_whitespace().nth(3).unwrap_or_default();
        !line.starts_with('#') && options.split(',').any(|option| option == "_netdev")
    };
    String::from_utf8_lossy(&text).lines().map(str::trim).any(is_one)
}

fn host_name(paths: &Paths, root: &Sysroot) -> Result<(), Fault> {
    let Some(name) = content(&paths.under(STAGE).join(HOST_NAME.trim_start_matches('/')))? else {
        return Ok(());
    };
    let place = root.place(HOST_NAME)?;
    // A link is the system's own; an absolute one leads into the initramfs.
    let is_own = place.is_symlink()
        || line(&place).is_some_and(|name| !HostName::new(&name).is_placeholder());
    if is_own { Ok(()) } else { readable(&place, name) }
}

fn link_files(paths: &Paths, root: &Sysroot) -> Result<(), Fault> {
    for (name, text) in links(&paths.under(STAGE))? {
        let path = format!("{LINKS}/{name}");
        if !root.has(&path) {
            readable(&root.place(&path)?, text)?;
        }
    }
    Ok(())
}

/// Creates the directories above a file.
fn parents(path: &Path) -> Result<(), Fault> {
    let made = path.parent().map_or(Ok(()), write::directory);
    made.map_err(Fault::Machine)
}

/// Writes a file with mode 0644, and creates the directories above it.
fn readable(path: &Path, text: Vec<u8>) -> Result<(), Fault> {
    parents(path)?;
    write::write_readable(path, text).map_err(Fault::Machine)
}

/// Writes a file with mode 0600: from a digest and the rest of a profile a short password is found by trying.
fn private(path: &Path, text: Vec<u8>) -> Result<(), Fault> {
    parents(path)?;
    write::write_file(path, text).map_err(Fault::Machine)
}

/// The staged .link files for the running system: name and content.
fn links(stage: &Path) -> Result<Vec<(String, Vec<u8>)>, Fault> {
    let path = stage.join(LINKS.trim_start_matches('/'));
    let failed = |source| Fault::ReadDirectory { path: path.clone(), source };
    let entries = unless_missing(fs::read_dir(&path)).map_err(failed)?;
    let mut found = Vec::new();
    for entry in entries.into_iter().flatten() {
        let entry = entry.map_err(failed)?;
        let text = content(&entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        found.extend(text.map(|text| (name, text)));
    }
    Ok(found)
}

pub(super) fn contents<'p>(profiles: impl Iterator<Item = &'p Other>) -> Result<Vec<File>, Fault> {
    profiles.map(copy).collect()
}

/// The content of a file; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    unless_missing(files::read(path))
        .map_err(|source| Fault::ReadFile { path: path.to_owned(), source })
}

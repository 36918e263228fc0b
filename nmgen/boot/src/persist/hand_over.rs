//! The hand-over itself: the plan is carried out.

use std::fs;
use std::path::Path;

use nmgen_core::node::HostName;
use nmgen_core::write::{self, File};
use nmgen_document::format::{chain, counted};

use super::digests::DIGESTS;
use super::plan::Plan;
use super::release;
use super::sysroot::Sysroot;
use super::system::System;
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, parents, private, readable, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::root::{EARLY_HOST_NAME, PERSISTED, Paths, STAGE};
use crate::wait::cards::line;
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::copy;

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

/// Carries the plan of a hand-over out.
pub(super) struct HandOver<'a> {
    pub(super) paths: &'a Paths,
    pub(super) line: &'a CommandLine,
    pub(super) system: &'a System,
    pub(super) plan: &'a Plan<'a>,
    /// The files of nmgen's profiles for the running system.
    pub(super) files: &'a [File],
    /// Whether these are all of them. Without the mark the next boot gives the others.
    pub(super) is_whole: bool,
    /// This boot's mark.
    pub(super) mark: &'a Mark,
    pub(super) log: &'a Log,
}

impl HandOver<'_> {
    /// Writes what the running system gets; returns the profiles that could not be written, with the fault.
    pub(super) fn run(&self) -> (Vec<File>, Result<(), Fault>) {
        let Self { paths, system, plan, log, .. } = *self;
        plan.notes.iter().for_each(|(level, text)| log.say(*level, text));
        self.warn(release::record(paths, &plan.releases));
        if plan.is_refused {
            return (Vec::new(), self.refuse());
        }
        let names: Vec<String> = plan.written.iter().map(|profile| profile.file_name()).collect();
        let files: Vec<File> =
            self.files.iter().filter(|file| names.contains(&file.name)).cloned().collect();
        let directory = &system.directory;
        let written = parents(directory)
            .and_then(|()| write::write(directory, &files).map_err(Fault::Machine));
        if written.is_err() {
            // A profile in /etc must not be in /run too, where NetworkManager prefers it.
            let kept = files.into_iter().filter(|file| !is_there(directory, file)).collect();
            return (kept, written);
        }
        if !files.is_empty() {
            let text = format!("the running system got {}", counted(files.len(), "profile"));
            log.say(Level::Info, &text);
        }
        for own in &plan.removed {
            let removed = files::remove(&own.path);
            if removed.is_ok() {
                let text = format!("{} of an earlier hand-over is removed", own.path.display());
                log.say(Level::Info, &text);
            }
            self.warn(removed);
        }
        // The network is there: the rest is no reason to lose it.
        self.warn(self.give_others());
        self.warn(host_name(paths, &system.root));
        self.warn(link_files(paths, &system.root));
        self.warn(readable(&paths.under(LABELS_FILE), LABELS.into()));
        self.warn(self.give_mark());
        if self.line.has_network_root || has_network_disk(&system.root) {
            let text = "a disk of this machine needs the network at every boot: each boot's initramfs needs \
                        the document, or kernel arguments";
            log.say(Level::Warning, text);
        }
        (Vec::new(), Ok(()))
    }

    fn warn(&self, done: Result<(), Fault>) {
        done.unwrap_or_else(|fault| self.log.say(Level::Warning, &chain(&fault)));
    }

    fn refuse(&self) -> Result<(), Fault> {
        // A power cut may have ended the boot that wrote the files before their labels were restored.
        if self.system.mark.is_some() {
            self.warn(readable(&self.paths.under(LABELS_FILE), LABELS.into()));
        }
        if self.line.persist == Some(false) { forget_host_name(self.paths) } else { Ok(()) }
    }

    /// Hands the initramfs's other profiles over, and names cards without one.
    fn give_others(&self) -> Result<(), Fault> {
        let Plan { others, bare_cards, .. } = self.plan;
        let files = contents(others.iter().copied(), self.log);
        if !files.is_empty() {
            write::write(&self.system.directory, &files).map_err(Fault::Machine)?;
            let is_written =
                |other: &&&Other| files.iter().any(|file| file.name == other.file_name());
            let names: Vec<String> =
                others.iter().filter(is_written).map(|other| other.name()).collect();
            let text = format!(
                "the running system got the initramfs's other profiles too: {}",
                names.join(", ")
            );
            self.log.say(Level::Info, &text);
        }
        if !bare_cards.is_empty() {
            let text = format!("the running system has no profile for {}", bare_cards.join(", "));
            self.log.say(Level::Warning, &text);
        }
        Ok(())
    }

    /// Writes the mark, after the digests of nmgen's profiles in the running system that are as this boot's first step staged them.
    fn give_mark(&self) -> Result<(), Fault> {
        let System { root, directory, digests, .. } = self.system;
        let mut digests = digests.clone();
        self.files
            .iter()
            .filter(|file| is_there(directory, file))
            .for_each(|file| digests.add(file));
        // From a digest and the rest of a profile a short password is found by trying.
        private(&root.place(DIGESTS)?, digests.text().into_bytes())?;
        if !self.is_whole {
            return Ok(());
        }
        private(&root.place(PERSISTED)?, self.mark.text().into_bytes())
    }
}

fn is_there(directory: &Path, file: &File) -> bool {
    files::read(&directory.join(&file.name)).is_ok_and(|content| content == file.content)
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
    String::from_utf8_lossy(&text).lines().map(str::trim).any(|line| {
        let options = line.split_whitespace().nth(3).unwrap_or_default();
        !line.starts_with('#') && options.split(',').any(|option| option == "_netdev")
    })
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

/// The files of these profiles. One that cannot be read is named, and the others are handed over.
pub(super) fn contents<'p>(profiles: impl IntoIterator<Item = &'p Other>, log: &Log) -> Vec<File> {
    let content = |profile: &Other| {
        let copied = copy(profile);
        copied.map_err(|fault| log.say(Level::Error, &chain(&fault))).ok()
    };
    profiles.into_iter().filter_map(content).collect()
}

/// The content of a file; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    unless_missing(files::read(path))
        .map_err(|source| Fault::ReadFile { path: path.to_owned(), source })
}

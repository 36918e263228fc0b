//! The second step, before switch-root: hands the first step's files to the running system.
//!
//! A profile in `/run` would survive too, but NetworkManager prefers it to one with the same uuid in
//! `/etc` (nms-keyfile-storage.c), so each boot would undo the running system's changes. So profiles
//! go to `/etc`, once, and none stays in `/run`.

mod keep;
mod own;
pub(crate) mod release;
mod sysroot;

use std::fs;
use std::io;
use std::path::Path;

use nmgen_core::node::{Card, HostName};
use nmgen_core::write::{self, File};
use nmgen_document::format::{chain, counted};

use self::keep::keep;
use self::own::Given;
use self::release::Release;
use self::sysroot::Sysroot;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, expect_initramfs};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::root::{ETC_PROFILES, PERSISTED, Paths, RUN_PROFILES, STAGE};
use crate::wait::cards::{Cards, line};
use crate::write::components::components;
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::{forget, staged};

const LINKS: &str = "/etc/systemd/network";
const HOST_NAME: &str = "/etc/hostname";
const CRYPTTAB: &str = "/etc/crypttab";

/// SELinux: the initramfs loads no policy, so files written there have no labels. systemd-tmpfiles of
/// the running system restores them before NetworkManager starts; see tmpfiles.d(5).
const LABELS_FILE: &str = "/run/tmpfiles.d/nmgen.conf";
const LABELS: &str = "\
# Written by nmgen boot: labels for what it gave this system.
Z /etc/NetworkManager/system-connections
Z /etc/systemd/network
Z /etc/nmgen
z /etc/hostname
";

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
    let profiles = staged(paths)?;
    let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?.list;
    let (kept, done) = match System::look(paths) {
        Ok(system) => hand_over(paths, &system, &line, &profiles, &cards, log)
            .unwrap_or_else(|fault| (Vec::new(), Err(fault))),
        Err(fault) => (contents(profiles.iter())?, Err(fault)),
    };
    // The full profiles, not those with the initramfs's bounds.
    if let Err(fault) = keep(paths, &kept) {
        log.say(Level::Error, &chain(&fault));
    }
    forget(paths)?;
    match done {
        Err(fault) if is_read_only(&fault) => {
            let text = "the root file system is read-only: the profiles last for this boot";
            log.say(Level::Info, text);
            Ok(())
        }
        done => done,
    }
}

/// The running system before the pivot, and its own profiles.
struct System {
    root: Sysroot,
    own: Vec<Other>,
    /// The mark of an earlier boot.
    mark: Option<Mark>,
}

impl System {
    fn look(paths: &Paths) -> Result<Self, Fault> {
        let root = Sysroot::open(paths)?;
        let own = own::list(&root)?;
        let mark = root.place(PERSISTED).and_then(|place| Mark::read(&place));
        // A place that cannot hold a mark holds none; to write one fails later, with a line.
        Ok(Self { root, own, mark: mark.unwrap_or_default() })
    }

    /// The reason why the running system gets no profile at all.
    fn refuses(
        &self,
        line: &CommandLine,
        profiles: &[Other],
        now: &Mark,
    ) -> Option<(Level, String)> {
        if let Some(mark) = &self.mark {
            return Some(earlier(mark, now));
        }
        let told = |text| (Level::Info, text);
        // One of nmgen's, after the mark was removed, is no network of the system's own.
        let is_others = |own: &&Other| !profiles.iter().any(|it| own::is_same_uuid(it, own));
        match line.persist {
            Some(true) => None,
            Some(false) => {
                Some(told("nmgen.persist=0: the running system gets no profile".to_owned()))
            }
            None if line.is_first_boot => None,
            None => self.own.iter().find(is_others).map(|own| {
                told(format!(
                    "the running system has its own network ({}), and this is no first boot: it gets no \
                     profile without nmgen.persist=1",
                    own.name()
                ))
            }),
        }
    }

    /// The profiles that it lacks, in whole components: a part would be no network, or take its own one's
    /// place.
    fn lacks<'p>(&self, profiles: &'p [Other], cards: &[Card], log: &Log) -> Vec<&'p Other> {
        let component = components(profiles.iter().map(|profile| &profile.keyfile));
        let mut has_own = Vec::new();
        for (profile, component) in profiles.iter().zip(&component) {
            let given = given(profile, cards);
            // A profile with this uuid is this profile, which the system may have edited.
            let is_other = |own: &&Other| {
                let is_same_file = profile.path.file_name() == own.path.file_name();
                !own::is_same_uuid(profile, own) && (is_same_file || given.is_for_same(own))
            };
            let Some(own) = self.own.iter().find(is_other) else { continue };
            has_own.push(*component);
            if own::is_ignored(own) {
                let text = format!(
                    "{}: NetworkManager ignores this profile, as others than root may read it",
                    own.path.display()
                );
                log.say(Level::Warning, &text);
            }
        }
        let all = profiles.iter().zip(component);
        let is_there = |profile: &Other| self.own.iter().any(|own| own::is_same_uuid(profile, own));
        let lacking = all.filter(|(it, component)| !has_own.contains(component) && !is_there(it));
        lacking.map(|(profile, _)| profile).collect()
    }

    /// Interfaces whose profiles the running system does not get, and their release.
    fn releases(
        &self,
        line: &CommandLine,
        rest: &[&Other],
        cards: &[Card],
        log: &Log,
    ) -> Vec<Release> {
        let is_known = |profile: &Other| {
            let takes_over =
                |own: &Other| own::is_same_uuid(profile, own) && own::is_alike(profile, own);
            self.own.iter().any(takes_over)
        };
        let unknown: Vec<&Other> = rest.iter().filter(|it| !is_known(it)).copied().collect();
        // A port without its controller is no device of its profile any more.
        let has_lost = |profile: &Other| {
            let controller = profile.controller();
            controller.is_some()
                && unknown.iter().any(|it| [it.interface(), it.uuid()].contains(&controller))
        };
        let mut releases = Vec::new();
        for profile in rest.iter().filter(|it| !is_known(it) || has_lost(it)) {
            let given = given(profile, cards);
            let Some(interface) = given.interface().map(str::to_owned) else { continue };
            if !line.has_network_root && !line.has_fcoe {
                releases.push(Release::Down { interface });
                continue;
            }
            let is_its = |own: &&Other| given.is_for_same(own) && own::is_alike(profile, own);
            match self.own.iter().filter(is_its).find_map(Other::uuid) {
                Some(uuid) => releases.push(Release::Adopt { interface, uuid: uuid.to_owned() }),
                None => {
                    let text = format!(
                        "{interface} stays as the initramfs has it, since the root disk is on the \
                         network; the running system has no profile for it"
                    );
                    log.say(Level::Warning, &text);
                }
            }
        }
        releases
    }
}

/// The line about profiles of an earlier boot; a warning if they were not meant for this machine and
/// document.
fn earlier(mark: &Mark, now: &Mark) -> (Level, String) {
    let text = "the running system got its profiles at an earlier boot";
    let remedy = format!("remove {PERSISTED} to have missing ones written again");
    match mark.difference(now) {
        Some(difference) => (Level::Warning, format!("{text} {difference}; {remedy}")),
        None if mark.is_damaged() => {
            let unknown = format!("{PERSISTED} does not say for which document");
            (Level::Warning, format!("{text}, and {unknown}; {remedy}"))
        }
        None => (Level::Info, text.to_owned()),
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

fn given<'p>(profile: &'p Other, cards: &'p [Card]) -> Given<'p> {
    let is_its = |card: &&Card| match profile.interface() {
        Some(interface) => card.name == interface,
        None => profile.mac() == Some(card.mac),
    };
    Given { profile, card: cards.iter().find(is_its) }
}

/// Writes what the running system lacks. Returns the profiles that could not be written, with the fault.
fn hand_over(
    paths: &Paths,
    system: &System,
    line: &CommandLine,
    profiles: &[Other],
    cards: &[Card],
    log: &Log,
) -> Result<(Vec<File>, Result<(), Fault>), Fault> {
    let mark = Mark::staged(paths)?;
    let refused = system.refuses(line, profiles, &mark);
    let lacking = match &refused {
        Some((level, reason)) => {
            log.say(*level, reason);
            Vec::new()
        }
        None => system.lacks(profiles, cards, log),
    };
    let is_lacking = |profile: &&Other| lacking.iter().any(|it| it.path == profile.path);
    let rest: Vec<&Other> = profiles.iter().filter(|it| !is_lacking(it)).collect();
    if refused.is_none() && !rest.is_empty() {
        let names: Vec<String> = rest.iter().map(|profile| profile.name()).collect();
        let text = format!("the running system has its own network for {}", names.join(", "));
        log.say(Level::Info, &text);
    }
    // Without a profile of nmgen's in this boot, an interface is others'.
    let early = paths.under(RUN_PROFILES);
    let is_early = |it: &&&Other| it.path.file_name().is_some_and(|name| early.join(name).exists());
    let active: Vec<&Other> = rest.iter().filter(is_early).copied().collect();
    let releases = system.releases(line, &active, cards, log);
    if let Err(fault) = release::record(paths, &releases) {
        log.say(Level::Warning, &chain(&fault));
    }
    if refused.is_some() {
        return Ok((Vec::new(), Ok(())));
    }
    let files = contents(lacking.into_iter())?;
    let directory = system.root.place(ETC_PROFILES)?;
    let written =
        parents(&directory).and_then(|()| write::write(&directory, &files).map_err(Fault::Machine));
    if written.is_err() {
        // A profile in /etc must not be in /run too, where NetworkManager prefers it.
        let is_there = |file: &File| {
            files::read(&directory.join(&file.name)).is_ok_and(|content| content == file.content)
        };
        let kept = files.into_iter().filter(|file| !is_there(file)).collect();
        return Ok((kept, written));
    }
    if !files.is_empty() {
        let text = format!("the running system got {}", counted(files.len(), "profile"));
        log.say(Level::Info, &text);
    }
    // The network is there: the rest is no reason to lose it.
    for done in [
        host_name(paths, &system.root),
        link_files(paths, &system.root),
        readable(&paths.under(LABELS_FILE), LABELS.into()),
        system.root.place(PERSISTED).and_then(|place| readable(&place, mark.text().into_bytes())),
    ] {
        done.unwrap_or_else(|fault| log.say(Level::Warning, &chain(&fault)));
    }
    if line.has_network_root || has_network_disk(&system.root) {
        let text = "a disk of this machine needs the network at every boot: each boot's initramfs needs \
                    the document, or kernel arguments";
        log.say(Level::Warning, text);
    }
    Ok((Vec::new(), Ok(())))
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

fn contents<'p>(profiles: impl Iterator<Item = &'p Other>) -> Result<Vec<File>, Fault> {
    let read = |profile: &Other| {
        let path = profile.path.clone();
        let content = files::read(&path).map_err(|source| Fault::ReadFile { path, source })?;
        let name = profile.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(File { directories: Vec::new(), name, content })
    };
    profiles.map(read).collect()
}

/// The content of a file; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    unless_missing(files::read(path))
        .map_err(|source| Fault::ReadFile { path: path.to_owned(), source })
}

fn is_read_only(fault: &Fault) -> bool {
    let Fault::Machine(error) = fault else { return false };
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

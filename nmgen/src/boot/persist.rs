//! The second step, before switch-root: hands the first step's files to the running system.
//!
//! A profile in `/run` would survive too, but NetworkManager prefers it to one with the same uuid in
//! `/etc` (nms-keyfile-storage.c), so each boot would undo the running system's changes. So profiles
//! go to `/etc`, once, and none stays in `/run`.

use std::fs;
use std::io;
use std::path::Path;

use super::fault::Fault;
use super::kernel_log::{Level, Log};
use super::machine::line;
use super::others::Other;
use super::profiles::{forget, listed, staged};
use super::root::{ETC_PROFILES, PERSISTED, Paths, RUN_PROFILES, STAGE};
use super::sysroot::Sysroot;
use crate::format::{chain, counted};
use crate::node::HostName;
use crate::write::{self, File};

const LINKS: &str = "/etc/systemd/network";
const HOST_NAME: &str = "/etc/hostname";
const MARK: &str = "\
# nmgen boot gave this system its network profiles. What has become of them since is the system's own
# affair, so later boots give it none. Remove this file to have missing ones written again.
";

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
/// own.
///
/// # Errors
/// A file could not be written. Then the profiles stay in `/run` for this boot.
pub(crate) fn persist(paths: &Paths, log: &Log) -> Result<(), Fault> {
    if !paths.under(STAGE).exists() {
        return Ok(());
    }
    if paths.in_sysroot(PERSISTED).exists() {
        log.say(Level::Info, "the running system got its profiles at an earlier boot");
        return forget(paths);
    }
    let profiles = staged(paths)?;
    let (done, files) = match missing(paths, &profiles, log) {
        Ok((sysroot, files)) => (hand_over(paths, &sysroot, &files, log), files),
        Err(fault) => (Err(fault), contents(profiles.iter())?),
    };
    let Err(fault) = done else { return forget(paths) };
    // Keeps the full profiles, not those with the initramfs's bounds.
    let kept = forget(paths)
        .and_then(|()| write::write(&paths.under(RUN_PROFILES), &files).map_err(Fault::Machine));
    if let Err(fault) = kept {
        log.say(Level::Error, &chain(&fault));
    }
    if !is_read_only(&fault) {
        return Err(fault);
    }
    let text = "the root file system is read-only: the profiles last for this boot";
    log.say(Level::Info, text);
    Ok(())
}

/// The running system, and the profiles that it lacks: its own must be neither replaced nor shadowed.
fn missing(paths: &Paths, profiles: &[Other], log: &Log) -> Result<(Sysroot, Vec<File>), Fault> {
    let sysroot = Sysroot::open(paths)?;
    let existing = listed(sysroot.place(ETC_PROFILES)?)?;
    let (kept, new): (Vec<&Other>, Vec<&Other>) =
        profiles.iter().partition(|profile| existing.iter().any(|its| is_same(profile, its)));
    if !kept.is_empty() {
        let names: Vec<String> = kept.into_iter().map(Other::name).collect();
        let text = format!("the running system has its own profiles for {}", names.join(", "));
        log.say(Level::Info, &text);
    }
    let files = contents(new.into_iter())?;
    Ok((sysroot, files))
}

/// Copies everything, and the mark last.
fn hand_over(paths: &Paths, sysroot: &Sysroot, profiles: &[File], log: &Log) -> Result<(), Fault> {
    let directory = sysroot.place(ETC_PROFILES)?;
    parents(&directory)?;
    write::write(&directory, profiles).map_err(Fault::Machine)?;
    let stage = paths.under(STAGE);
    if let Some(name) = content(&stage.join(HOST_NAME.trim_start_matches('/')))? {
        let place = sysroot.place(HOST_NAME)?;
        if line(&place).is_none_or(|name| HostName::new(&name).is_placeholder()) {
            readable(&place, name)?;
        }
    }
    for (name, text) in links(&stage)? {
        let place = sysroot.place(&format!("{LINKS}/{name}"))?;
        if !place.exists() {
            readable(&place, text)?;
        }
    }
    readable(&paths.under(LABELS_FILE), LABELS.into())?;
    readable(&sysroot.place(PERSISTED)?, MARK.into())?;
    if !profiles.is_empty() {
        let text = format!("the running system got {}", counted(profiles.len(), "profile"));
        log.say(Level::Info, &text);
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
    let entries = match fs::read_dir(&path) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let text = content(&entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        found.extend(text.map(|text| (name, text)));
    }
    Ok(found)
}

/// True when two profiles conflict: NetworkManager identifies profiles by uuid, and devices by name.
fn is_same(profile: &Other, existing: &Other) -> bool {
    let same_file = profile.path.file_name() == existing.path.file_name();
    let same_uuid = profile.uuid().is_some() && profile.uuid() == existing.uuid();
    let same_kind =
        profile.kind() == existing.kind() || (profile.is_of_card() && existing.is_of_card());
    let same_interface =
        profile.interface().is_some() && profile.interface() == existing.interface();
    same_file || same_uuid || (same_kind && same_interface)
}

fn contents<'p>(profiles: impl Iterator<Item = &'p Other>) -> Result<Vec<File>, Fault> {
    let read = |profile: &Other| {
        let path = profile.path.clone();
        let content = fs::read(&path).map_err(|source| Fault::ReadFile { path, source })?;
        let name = profile.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(File { directories: Vec::new(), name, content })
    };
    profiles.map(read).collect()
}

/// The content of a file; `None` if it is missing.
fn content(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    match fs::read(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Fault::ReadFile { path: path.to_owned(), source }),
    }
}

fn is_read_only(fault: &Fault) -> bool {
    let Fault::Machine(error) = fault else { return false };
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

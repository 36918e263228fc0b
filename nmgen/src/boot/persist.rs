//! The second step, before switch-root: hands over to the running system what the first one wrote.
//!
//! A profile in `/run` would survive too, but NetworkManager puts it before one with the same uuid in
//! `/etc` (nms-keyfile-storage.c): whatever the running system changed in its network would be undone at
//! each boot. So profiles go to `/etc`, once, and none stays in `/run`.

use std::fs;
use std::io;
use std::path::Path;

use super::error::Fault;
use super::log::{Level, Log};
use super::machine::{is_real, line};
use super::others::{self, Other};
use super::paths::{ETC_PROFILES, PERSISTED, Paths, RUN_PROFILES, STAGE};
use super::profiles::{forget, staged};
use crate::error::Error;
use crate::target::File;
use crate::write;

const LINKS: &str = "/etc/systemd/network";
const HOST_NAME: &str = "/etc/hostname";
const MARK: &str = "\
# nmgen boot gave this system its network profiles. What has become of them since is the system's own
# affair, so later boots give it none. Remove this file to have missing ones written again.
";

/// SELinux: no policy is loaded in an initramfs, so what is written there has no labels. The running
/// system's systemd-tmpfiles gives it some before NetworkManager starts; see tmpfiles.d(5).
const LABELS_FILE: &str = "/run/tmpfiles.d/nmgen.conf";
const LABELS: &str = "\
# Written by nmgen boot: labels for what it gave this system.
Z /etc/NetworkManager/system-connections
Z /etc/systemd/network
Z /etc/nmgen
z /etc/hostname
";

/// Gives the file system at `/sysroot` its profiles, host name and .link files, unless it has its own.
///
/// # Errors
/// What could not be written. The profiles are kept for this boot then.
pub(crate) fn persist(paths: &Paths, log: &Log) -> Result<(), Fault> {
    let profiles = staged(paths);
    if !paths.under(STAGE).exists() {
        return Ok(());
    }
    if paths.in_sysroot(PERSISTED).exists() {
        log.say(Level::Info, "the running system was given its profiles at an earlier boot");
        return forget(paths);
    }
    let directory = paths.in_sysroot(ETC_PROFILES);
    let existing = others::list(&directory)
        .map_err(|source| Fault::ReadDirectory { path: directory.clone(), source })?;
    let (kept, new): (Vec<Other>, Vec<Other>) =
        profiles.into_iter().partition(|profile| existing.iter().any(|its| is_same(profile, its)));
    if !kept.is_empty() {
        let names: Vec<String> = kept.iter().map(Other::name).collect();
        let text = format!("the running system has profiles of its own for {}", names.join(", "));
        log.say(Level::Info, &text);
    }
    let files = contents(&new)?;
    match hand_over(paths, &files) {
        Ok(()) => {
            if !files.is_empty() {
                let plural = if files.len() == 1 { "" } else { "s" };
                let text = format!("the running system was given {} profile{plural}", files.len());
                log.say(Level::Info, &text);
            }
            forget(paths)
        }
        Err(error) => {
            forget(paths)?;
            // As they are meant to be, not as they were for the initramfs.
            write::write(&paths.under(RUN_PROFILES), &files).map_err(Fault::Machine)?;
            if !is_read_only(&error) {
                return Err(Fault::Machine(error));
            }
            let text = "the root file system is read-only: the profiles are there for this boot";
            log.say(Level::Info, text);
            Ok(())
        }
    }
}

/// Everything in its place, the mark last.
fn hand_over(paths: &Paths, profiles: &[File]) -> Result<(), Error> {
    let directory = paths.in_sysroot(ETC_PROFILES);
    if let Some(parent) = directory.parent() {
        write::directory(parent)?;
    }
    write::write(&directory, profiles)?;
    let stage = paths.under(STAGE);
    if let Some(name) = content(&stage.join(HOST_NAME.trim_start_matches('/'))) {
        let place = paths.in_sysroot(HOST_NAME);
        if !line(&place).is_some_and(|name| is_real(&name)) {
            write::write_readable(&place, name)?;
        }
    }
    for link in fs::read_dir(stage.join(LINKS.trim_start_matches('/'))).into_iter().flatten() {
        let Some(link) = link.ok().map(|entry| entry.path()) else { continue };
        let (Some(name), Some(text)) = (link.file_name(), content(&link)) else { continue };
        let place = paths.in_sysroot(LINKS);
        if !place.join(name).exists() {
            write::directory(&place)?;
            write::write_readable(&place.join(name), text)?;
        }
    }
    let labels = paths.under(LABELS_FILE);
    if let Some(parent) = labels.parent() {
        write::directory(parent)?;
    }
    write::write_readable(&labels, LABELS.into())?;
    let mark = paths.in_sysroot(PERSISTED);
    if let Some(parent) = mark.parent() {
        write::directory(parent)?;
    }
    write::write_readable(&mark, MARK.into())
}

/// True when one would be in the other's way: NetworkManager knows profiles by uuid, and a device by name.
fn is_same(profile: &Other, existing: &Other) -> bool {
    let same_file = profile.path.file_name() == existing.path.file_name();
    let same_uuid = profile.uuid.is_some() && profile.uuid == existing.uuid;
    let same_kind =
        profile.kind == existing.kind || (profile.is_of_card() && existing.is_of_card());
    let same_interface = profile.interface.is_some() && profile.interface == existing.interface;
    same_file || same_uuid || (same_kind && same_interface)
}

fn contents(profiles: &[Other]) -> Result<Vec<File>, Fault> {
    let read = |profile: &Other| {
        let path = profile.path.clone();
        let content = fs::read(&path).map_err(|source| Fault::ReadFile { path, source })?;
        let name = profile.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(File { directories: Vec::new(), name, content })
    };
    profiles.iter().map(read).collect()
}

fn content(path: &Path) -> Option<Vec<u8>> {
    fs::read(path).ok()
}

fn is_read_only(error: &Error) -> bool {
    let source = std::error::Error::source(error).and_then(|source| source.downcast_ref());
    source.is_some_and(|source: &io::Error| source.kind() == io::ErrorKind::ReadOnlyFilesystem)
}

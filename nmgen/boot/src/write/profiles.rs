//! Writes a configuration for the initramfs's NetworkManager, and stages the full one for the running
//! system.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nmgen_core::profile::{Configuration, Profile};
use nmgen_core::write::{self, File};
use nmgen_document::format::chain;

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::names::Names;
use crate::names::identified;
use crate::root::{ETC_PROFILES, NEEDED, Paths, RUN_PROFILES, RUN_SETTINGS, STAGE};
use crate::write::components::components;
use crate::write::detection;
use crate::write::early::{self, Bounds};
use crate::write::others::{self, Other};
use crate::write::root_disk;

/// dracut sets the host name from it when the network is up; coreos-teardown-initramfs copies it to
/// the running system.
const HOST_NAME: &str = "/run/NetworkManager/initrd/hostname";

/// Writes all files of the first step, or none. Returns the displaced profiles of others.
pub(crate) fn write(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    bounds: &Bounds,
    line: &CommandLine,
    log: &Log,
) -> Result<Vec<PathBuf>, Fault> {
    forget(paths)?;
    let written = put(paths, configuration, names, bounds, line, log);
    if written.is_err()
        && let Err(fault) = forget(paths)
    {
        // The first fault is returned.
        log.say(Level::Warning, &chain(&fault));
    }
    written
}

/// Stages the files for the running system, and leaves the initramfs's network alone.
pub(crate) fn stage_only(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    line: &CommandLine,
) -> Result<(), Fault> {
    forget(paths)?;
    stage(paths, configuration, names, line)
}

fn put(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    bounds: &Bounds,
    line: &CommandLine,
    log: &Log,
) -> Result<Vec<PathBuf>, Fault> {
    let carriers = carriers(paths, line)?;
    let displaced = displaced(paths, configuration, names, line)?;
    stage(paths, configuration, names, line)?;
    // NetworkManager's own directories have mode 0755.
    write::directory(&paths.under("/run/NetworkManager/conf.d")).map_err(Fault::Machine)?;
    let settings = paths.under(RUN_SETTINGS);
    write::write_file(&settings, settings_text(configuration, names, &carriers).into_bytes())
        .map_err(Fault::Machine)?;
    write::directory(&paths.under("/run/NetworkManager/initrd")).map_err(Fault::Machine)?;
    host_name(paths, configuration)?;
    let early = early::profiles(&configuration.profiles, bounds);
    let files: Vec<File> = early.iter().map(|profile| file(profile, Vec::new())).collect();
    write::write(&paths.under(RUN_PROFILES), &files).map_err(Fault::Machine)?;
    let alone = early.iter().filter(|profile| early::stands_on_link_local(profile));
    let interfaces =
        alone.filter_map(|profile| profile.keyfile.get("connection", "interface-name"));
    if let Err(fault) = detection::switch_off(paths, interfaces) {
        // The cost is two seconds, not the network.
        log.say(Level::Warning, &chain(&fault));
    }
    write::write_file(&paths.under(NEEDED), Vec::new()).map_err(Fault::Machine)?;
    // Last: the other profiles are the network until nmgen's are complete.
    let mut done = Vec::new();
    for other in displaced {
        let is_replaced = files.iter().any(|file| other.path.ends_with(&file.name));
        let removed = if is_replaced { Ok(()) } else { fs::remove_file(&other.path) };
        match removed {
            Ok(()) => done.push(other.path),
            Err(error) => {
                let text = format!("cannot remove {}: {error}", other.path.display());
                log.say(Level::Warning, &text);
            }
        }
    }
    Ok(done)
}

/// The profiles of others for the root disk's cards.
pub(crate) fn carriers(paths: &Paths, line: &CommandLine) -> Result<Vec<Other>, Fault> {
    let mut others = listed(paths.under(RUN_PROFILES))?;
    others.retain(|other| root_disk::is_carried_by(other, line));
    Ok(others)
}

/// Removes the files of an earlier run of the first step.
pub(crate) fn forget(paths: &Paths) -> Result<(), Fault> {
    let switched_off = detection::switched_off(paths)?;
    for profile in staged(paths)? {
        let Some(name) = profile.path.file_name() else { continue };
        let path = paths.under(RUN_PROFILES).join(name);
        files::remove(&path)?;
    }
    files::remove(&paths.under(RUN_SETTINGS))?;
    let path = paths.under(STAGE);
    unless_missing(fs::remove_dir_all(&path)).map_err(|source| Fault::Remove { path, source })?;
    detection::restore(paths, &switched_off)
}

/// The profiles staged for the running system.
pub(crate) fn staged(paths: &Paths) -> Result<Vec<Other>, Fault> {
    listed(paths.under(&format!("{STAGE}{ETC_PROFILES}")))
}

/// The profiles in a directory.
pub(crate) fn listed(path: PathBuf) -> Result<Vec<Other>, Fault> {
    others::list(&path).map_err(|source| Fault::ReadProfiles { path, source })
}

/// Stages each file for the second step, under its path in the running system.
fn stage(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    line: &CommandLine,
) -> Result<(), Fault> {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let profiles = identified::profiles(&configuration.profiles, &names.by_mac, line.by_mac);
    let mut files: Vec<File> =
        profiles.iter().map(|profile| file(profile, parts(ETC_PROFILES))).collect();
    for system in &configuration.files {
        let mut directories = parts(&system.path);
        let name = directories.pop().unwrap_or_default();
        files.push(File { directories, name, content: system.content.clone().into_bytes() });
    }
    write::write(&paths.under(STAGE), &files).map_err(Fault::Machine)
}

fn file(profile: &Profile, directories: Vec<String>) -> File {
    File { directories, name: profile.file_name(), content: profile.keyfile.render().into_bytes() }
}

/// NetworkManager brings every card up and waits for its carrier, ten seconds in dracut's initramfs.
/// These settings exclude the cards that neither the document nor the root disk needs.
fn settings_text(configuration: &Configuration, names: &Names, carriers: &[Other]) -> String {
    let mut matched: String = interfaces(configuration, names)
        .into_iter()
        .chain(carriers.iter().filter_map(Other::interface))
        .map(|name| format!("except:interface-name:={name};"))
        .collect();
    let macs = carriers.iter().filter_map(Other::mac);
    matched.extend(macs.map(|mac| format!("except:mac:{mac};")));
    format!(
        "# Written by nmgen boot, for the initramfs only.\n[.config]\nenable=env:initrd\n\n\
         [device-nmgen]\nmatch-device={matched}\ncarrier-wait-timeout=0\n"
    )
}

/// Every interface name of the document, on this machine.
fn interfaces<'a>(configuration: &'a Configuration, names: &'a Names) -> BTreeSet<&'a str> {
    let profiles = configuration.profiles.iter();
    profiles
        .filter_map(|profile| profile.keyfile.get("connection", "interface-name"))
        .chain(names.present.iter().map(|card| card.name.as_str()))
        .collect()
}

/// A host name from `ip=` on the kernel command line, written by nm-initrd-generator, stays.
fn host_name(paths: &Paths, configuration: &Configuration) -> Result<(), Fault> {
    let Some(name) = configuration.files.iter().find(|file| file.path == "etc/hostname") else {
        return Ok(());
    };
    let path = paths.under(HOST_NAME);
    if path.exists() {
        return Ok(());
    }
    write::write_file(&path, name.content.clone().into_bytes()).map_err(Fault::Machine)
}

/// Profiles of others for this boot that could take an interface of nmgen's: nm-initrd-generator's
/// default profile, and those that name an interface or a card of the document; with a port, its whole
/// bond. Those of the root disk's cards stay.
fn displaced(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    line: &CommandLine,
) -> Result<Vec<Other>, Fault> {
    let ours: Vec<String> = configuration.profiles.iter().map(Profile::file_name).collect();
    let interfaces = interfaces(configuration, names);
    let uuids: Vec<&str> = configuration
        .profiles
        .iter()
        .filter_map(|it| it.keyfile.get("connection", "uuid"))
        .collect();
    let is_displaced = |other: &Other| {
        // A file of the same name is written over.
        let name = other.path.file_name().map(|name| name.to_string_lossy());
        if name.is_some_and(|name| ours.iter().any(|known| *known == name)) {
            return true;
        }
        // NetworkManager loads one of two profiles with one uuid.
        if other.uuid().is_some_and(|uuid| uuids.contains(&uuid)) {
            return true;
        }
        match (other.interface(), other.mac()) {
            (Some(interface), _) => interfaces.contains(interface),
            (None, Some(mac)) => names.present.iter().any(|card| card.mac == mac),
            (None, None) => other.is_of_card(),
        }
    };
    let mut others = listed(paths.under(RUN_PROFILES))?;
    others.retain(|other| !root_disk::is_carried_by(other, line));
    let component = components(others.iter().map(|other| &other.keyfile));
    let hit: Vec<usize> = others
        .iter()
        .zip(&component)
        .filter(|(other, _)| is_displaced(other))
        .map(|(_, component)| *component)
        .collect();
    let all = others.into_iter().zip(component);
    Ok(all.filter(|(_, component)| hit.contains(component)).map(|(other, _)| other).collect())
}

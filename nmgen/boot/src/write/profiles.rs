//! Writes a configuration for the initramfs's NetworkManager, and stages the full one for the running
//! system.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use nmgen_core::node::Card;
use nmgen_core::profile::{Configuration, Profile};
use nmgen_core::write::{self, File};
use nmgen_document::format::chain;
use nmgen_document::mac::Mac;

use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::names::{Names, identified};
use crate::root::{
    EARLY_HOST_NAME, ETC_PROFILES, NEEDED, Paths, RUN_PROFILES, RUN_SETTINGS, STAGE,
};
use crate::write::components::with_hit;
use crate::write::early::{self, Bounds};
use crate::write::others::{self, Other};
use crate::write::way_out::may_lead_out;
use crate::write::{detection, name_servers, operators, root_disk};

/// Below the staging directory: the names of nmgen's profiles for the initramfs, one a line, and others' that gave way to them.
const EARLY: &str = "early";
const DISPLACED: &str = "displaced";

/// The machine that the profiles are for, before anything is written.
pub(crate) struct TargetMachine<'m> {
    pub(crate) names: &'m Names,
    /// All physical network cards.
    pub(crate) cards: &'m [Card],
    /// The initramfs's profiles without nmgen's.
    pub(crate) others: Vec<Other>,
}

/// Writes all files of the first step, or none. Returns the displaced profiles of others.
pub(crate) fn write(
    paths: &Paths,
    configuration: &Configuration,
    machine: TargetMachine<'_>,
    bounds: &Bounds,
    line: &CommandLine,
    log: &Log,
) -> Result<Vec<PathBuf>, Fault> {
    put(paths, configuration, machine, bounds, line, log).inspect_err(|_| {
        if let Err(fault) = forget(paths, |_| true) {
            // The first fault is returned.
            log.say(Level::Warning, &chain(&fault));
        }
    })
}

fn put(
    paths: &Paths,
    configuration: &Configuration,
    machine: TargetMachine<'_>,
    bounds: &Bounds,
    line: &CommandLine,
    log: &Log,
) -> Result<Vec<PathBuf>, Fault> {
    let TargetMachine { names, cards, others } = machine;
    let goes = displaced(&others, configuration, names, cards, line);
    let (displaced, remaining): (Vec<&Other>, Vec<&Other>) =
        others.iter().partition(|other| goes.contains(&other.path));
    stage(paths, configuration, names, line)?;
    // NetworkManager's own directories have mode 0755.
    write::directory(&paths.under("/run/NetworkManager/conf.d")).map_err(Fault::Machine)?;
    if let Some(text) = settings_text(configuration, names, &remaining) {
        write::write_file(&paths.under(RUN_SETTINGS), text.into_bytes()).map_err(Fault::Machine)?;
    }
    write::directory(&paths.under("/run/NetworkManager/initrd")).map_err(Fault::Machine)?;
    host_name(paths, configuration)?;
    let mut early = early::profiles(&configuration.profiles, bounds);
    name_servers::carry_over(&mut early, &displaced, log);
    let files: Vec<File> = early.iter().map(|profile| file(profile, Vec::new())).collect();
    // Both before the profiles: whatever fails then, all can be put back.
    let list: String = files.iter().map(|file| format!("{}\n", file.name)).collect();
    let stage = paths.under(STAGE);
    write::write_file(&stage.join(EARLY), list.into_bytes()).map_err(Fault::Machine)?;
    let copies = displaced.iter().map(|other| copy(other)).collect::<Result<Vec<File>, Fault>>()?;
    if !copies.is_empty() {
        write::write(&stage.join(DISPLACED), &copies).map_err(Fault::Machine)?;
    }
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
            Ok(()) => done.push(other.path.clone()),
            Err(error) => {
                let text = format!("cannot remove {}: {error}", other.path.display());
                log.say(Level::Warning, &text);
            }
        }
    }
    let after: Vec<Other> = early.iter().map(operators::as_other).collect();
    let after: Vec<&Other> = remaining.into_iter().chain(&after).collect();
    let before: Vec<&Other> = others.iter().collect();
    let without = without_profile(cards, &before, &after);
    let without: Vec<&str> = without
        .filter(|card| !names.present.contains(card))
        .map(|card| card.name.as_str())
        .collect();
    if !without.is_empty() {
        let text = format!("no profile is left for {} in the initramfs", without.join(", "));
        log.say(Level::Warning, &text);
    }
    Ok(done)
}

/// The cards that a profile was for before, and none is after.
pub(crate) fn without_profile<'c>(
    cards: &'c [Card],
    before: &[&Other],
    after: &[&Other],
) -> impl Iterator<Item = &'c Card> {
    let covers =
        |profiles: &[&Other], card: &Card| profiles.iter().any(|profile| profile.covers(card));
    cards.iter().filter(move |card| covers(before, card) && !covers(after, card))
}

/// The content of a profile's file.
pub(crate) fn copy(profile: &Other) -> Result<File, Fault> {
    let path = profile.path.clone();
    let content = files::read(&path).map_err(|source| Fault::ReadFile { path, source })?;
    Ok(File { directories: Vec::new(), name: profile.file_name(), content })
}

/// Removes the files of an earlier run of the first step, and puts those of others back that gave way to them, as far as
/// `is_back` says so.
pub(crate) fn forget(paths: &Paths, is_back: impl Fn(&Other) -> bool) -> Result<(), Fault> {
    let switched_off = detection::switched_off(paths)?;
    let profiles = paths.under(RUN_PROFILES);
    for name in early_names(paths)? {
        files::remove(&profiles.join(name))?;
    }
    let (mut back, mut unread) = (Vec::new(), Ok(()));
    for other in self::displaced_ones(paths)? {
        let is_there = other.path.file_name().is_some_and(|name| profiles.join(name).exists());
        // Who made the profiles anew has made this one too.
        if !is_there && is_back(&other) {
            match copy(&other) {
                Ok(file) => back.push(file),
                Err(fault) => unread = Err(fault),
            }
        }
    }
    if !back.is_empty() {
        write::write(&profiles, &back).map_err(Fault::Machine)?;
    }
    files::remove(&paths.under(RUN_SETTINGS))?;
    let path = paths.under(STAGE);
    unless_missing(fs::remove_dir_all(&path)).map_err(|source| Fault::Remove { path, source })?;
    detection::restore(paths, &switched_off)?;
    unread
}

/// The file names of nmgen's profiles for the initramfs.
pub(crate) fn early_names(paths: &Paths) -> Result<Vec<String>, Fault> {
    let list = files::text(&paths.under(STAGE).join(EARLY))?.unwrap_or_default();
    let is_name = |name: &&str| !name.is_empty() && !name.contains('/') && *name != "..";
    Ok(list.lines().filter(is_name).map(str::to_owned).collect())
}

/// Others' profiles that gave way to nmgen's in the initramfs.
pub(crate) fn displaced_ones(paths: &Paths) -> Result<Vec<Other>, Fault> {
    listed(paths.under(STAGE).join(DISPLACED))
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
pub(crate) fn stage(
    paths: &Paths,
    configuration: &Configuration,
    names: &Names,
    line: &CommandLine,
) -> Result<(), Fault> {
    let parts = |path: &str| -> Vec<String> {
        path.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
    };
    let profiles = identified::profiles(&configuration.profiles, &names.by_mac, line.identifier);
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
/// These settings exclude the cards that no profile is for; there are none beside one for any card.
fn settings_text(
    configuration: &Configuration,
    names: &Names,
    remaining: &[&Other],
) -> Option<String> {
    if remaining.iter().any(|other| other.is_of_any_card()) {
        return None;
    }
    let all = || remaining.iter();
    let parents = || all().filter_map(|other| other.parent());
    let mut matched: String = interfaces(configuration, names)
        .into_iter()
        .chain(all().filter_map(|other| other.interface()))
        .chain(
            parents()
                .filter(|parent| Mac::parse(parent).is_none() && !parent.contains(['-', ';', ' '])),
        )
        .collect::<BTreeSet<&str>>()
        .into_iter()
        .map(|name| format!("except:interface-name:={name};"))
        .collect();
    let macs = all().filter_map(|other| other.mac()).chain(parents().filter_map(Mac::parse));
    matched.extend(macs.map(|mac| format!("except:mac:{mac};")));
    Some(format!(
        "# Written by nmgen boot, for the initramfs only.\n[.config]\nenable=env:initrd\n\n\
         [device-nmgen]\nmatch-device={matched}\ncarrier-wait-timeout=0\n"
    ))
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
    let path = paths.under(EARLY_HOST_NAME);
    if path.exists() {
        return Ok(());
    }
    write::write_file(&path, name.content.clone().into_bytes()).map_err(Fault::Machine)
}

/// Profiles of others for this boot that could take an interface of nmgen's, by their paths: nm-initrd-generator's
/// default profile, and those that name an interface or a card of the document; with a port, its whole
/// bond. Those of the root disk's cards stay, and so do all that a person made.
fn displaced(
    others: &[Other],
    configuration: &Configuration,
    names: &Names,
    cards: &[Card],
    line: &CommandLine,
) -> Vec<PathBuf> {
    let ours: Vec<String> = configuration.profiles.iter().map(Profile::file_name).collect();
    let interfaces = interfaces(configuration, names);
    let uuids: Vec<&str> = configuration
        .profiles
        .iter()
        .filter_map(|profile| profile.keyfile.get("connection", "uuid"))
        .collect();
    let is_default_needed = is_default_needed(configuration, others, names, cards, line);
    let is_ours = |other: &Other| operators::is_ours(other, configuration);
    let is_displaced = |other: &Other| {
        // As `nmgen gc` wrote it, under another name too.
        if !other.is_generated() {
            return true;
        }
        // A file of the same name is written over.
        if ours.contains(&other.file_name()) {
            return true;
        }
        // NetworkManager loads one of two profiles with one uuid.
        if other.uuid().is_some_and(|uuid| uuids.contains(&uuid)) {
            return true;
        }
        match (other.interface(), other.mac()) {
            (Some(interface), _) => interfaces.contains(interface),
            (None, Some(mac)) => names.present.iter().any(|card| card.mac == mac),
            (None, None) => other.is_of_card() && !is_default_needed,
        }
    };
    let may_go = |other: &&Other| {
        is_ours(other) || (other.is_generated() && !root_disk::is_carried_by(other, line))
    };
    let others: Vec<&Other> = others.iter().filter(may_go).collect();
    with_hit(&others, is_displaced).into_iter().map(|other| other.path.clone()).collect()
}

/// True when the initramfs may depend on a card that only the default profile is for: the root disk may be behind any, and
/// without a way out of the document's networks Ignition's server is. Its priority is the lowest: it takes no card of the
/// document.
fn is_default_needed(
    configuration: &Configuration,
    others: &[Other],
    names: &Names,
    cards: &[Card],
    line: &CommandLine,
) -> bool {
    let has_other = |card: &Card| {
        names.present.contains(card)
            || others.iter().any(|other| !other.is_of_any_card() && other.covers(card))
            || configuration
                .profiles
                .iter()
                .any(|profile| operators::as_other(profile).covers(card))
    };
    line.has_network_root
        || line.has_live_root
        || (!configuration.profiles.iter().any(|profile| may_lead_out(&profile.keyfile))
            && !cards.iter().all(has_other))
}

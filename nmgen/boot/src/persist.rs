//! The second step, before switch-root: hands the first step's files to the running system.
//!
//! A profile in `/run` would survive too, but NetworkManager prefers it to one with the same uuid in
//! `/etc` (nms-keyfile-storage.c), so each boot would undo the running system's changes. So profiles
//! go to `/etc`, once, and none stays in `/run`.

pub(crate) mod digests;
mod keep;
pub(crate) mod own;
pub(crate) mod release;
mod supplicant;
mod survivors;
pub(crate) mod sysroot;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nmgen_core::node::{Card, HostName};
use nmgen_core::write::{self, File};
use nmgen_document::format::{chain, counted};

use self::digests::{DIGESTS, Digests};
use self::keep::keep;
use self::release::Release;
use self::sysroot::Sysroot;
use crate::choose::listing::HostsDirectory;
use crate::choose::need::{Need, expect_initramfs};
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files::{self, unless_missing};
use crate::kernel_log::{Level, Log};
use crate::root::{EARLY_HOST_NAME, ETC_PROFILES, PERSISTED, Paths, STAGE};
use crate::wait::cards::{Cards, line};
use crate::write::components::components;
use crate::write::given::{Given, is_alike, is_same_uuid, is_wanted};
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::{copy, early_names, forget, staged, without_profile};
use crate::write::way_out::may_lead_out;

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
    let cards = Cards::look(paths).map_err(|source| Fault::ReadCards { source })?.all;
    let others = survivors::all(paths)?;
    let (Handed { kept, is_given }, done) = match System::look(paths) {
        Ok(system) => hand_over(paths, &system, &line, &profiles, &others, &cards, log)
            .unwrap_or_else(|fault| (Handed::default(), Err(fault))),
        Err(fault) => {
            let kept = contents(profiles.iter())?;
            let is_given = kept.iter().map(|file| file.name.clone()).collect();
            (Handed { kept, is_given }, Err(fault))
        }
    };
    // The full profiles, not those with the initramfs's bounds.
    if let Err(fault) = keep(paths, &kept) {
        log.say(Level::Error, &chain(&fault));
    }
    // Where the running system gets no profile of the document's, what gave way to it is as before.
    let is_given = |it: &&Other| {
        it.path
            .file_name()
            .is_some_and(|it| is_given.iter().any(|name| **name == *it.to_string_lossy()))
    };
    let given: Vec<&Other> = profiles.iter().filter(is_given).collect();
    let back = survivors::wanted(&others, &given, &cards);
    let back: Vec<&Path> = back.iter().map(|it| it.path.as_path()).collect();
    forget(paths, |other| back.contains(&other.path.as_path()))?;
    match done {
        Err(fault) if is_read_only(&fault) => {
            let text = "the root file system is read-only: the profiles last for this boot";
            log.say(Level::Info, text);
            Ok(())
        }
        done => done,
    }
}

/// The outcome of a hand-over.
#[derive(Default)]
struct Handed {
    /// Profiles that last for this boot only.
    kept: Vec<File>,
    /// The file names of nmgen's profiles that the running system has at the end.
    is_given: Vec<String>,
}

/// The running system before the pivot, and its own profiles.
struct System {
    root: Sysroot,
    own: Vec<Other>,
    /// The mark of an earlier boot.
    mark: Option<Mark>,
    digests: Digests,
    /// The paths of profiles that are as nmgen wrote them, at an earlier boot.
    unedited: Vec<PathBuf>,
}

impl System {
    fn look(paths: &Paths) -> Result<Self, Fault> {
        let root = Sysroot::open(paths)?;
        let own = own::list(&root)?;
        let mark = root.place(PERSISTED).and_then(|place| Mark::read(&place));
        let digests = root.place(DIGESTS).map(|place| Digests::read(&place)).unwrap_or_default();
        let directory = root.directory(ETC_PROFILES)?;
        let is_unedited = |own: &&Other| {
            let name = own.path.file_name().unwrap_or_default().to_string_lossy();
            own.path.parent() == Some(&directory)
                && files::read(&own.path).is_ok_and(|content| digests.has(&name, &content))
        };
        let unedited = own.iter().filter(is_unedited).map(|own| own.path.clone()).collect();
        // A place that cannot hold a mark holds none; to write one fails later, with a line.
        Ok(Self { root, own, mark: mark.unwrap_or_default(), digests, unedited })
    }

    fn is_unedited(&self, own: &Other) -> bool {
        self.unedited.contains(&own.path)
    }

    /// The reason why the running system gets no profile at all.
    fn refuses(
        &self,
        line: &CommandLine,
        profiles: &[Other],
        others: &[Other],
        cards: &[Card],
        now: &Mark,
    ) -> Option<(Level, String)> {
        let told = |text| (Level::Info, text);
        if let Some(mark) = &self.mark {
            let is_refused = line.persist == Some(false) || !self.lost_its_cards(profiles, cards);
            return is_refused.then(|| earlier(mark, now));
        }
        match line.persist {
            Some(true) => None,
            Some(false) => {
                Some(told("nmgen.persist=0: the running system gets no profile".to_owned()))
            }
            None if line.is_first_boot && line.forces_network && !line.keeps_no_network => None,
            None => self.own_network(profiles, others).map(|own| {
                told(format!(
                    "the running system has its own network ({}): it gets no profile without \
                     nmgen.persist=1",
                    own.name()
                ))
            }),
        }
    }

    /// The first profile of a network of the running system's own that may have a default route; not one that nmgen gave it, now
    /// or before a power cut. A storage network, say, is no reason to withhold the network that the node is reached by.
    fn own_network(&self, profiles: &[Other], others: &[Other]) -> Option<&Other> {
        self.own.iter().find(|own| {
            let is_network = !own.keyfile.sections.is_empty()
                && may_lead_out(&own.keyfile)
                && own.interface() != Some("lo")
                && (!own.is_of_any_card()
                    || is_wanted(own)
                    || own.keyfile.section("match").is_some())
                && !own::is_ignored(own);
            is_network && !self.is_given(own, profiles, others)
        })
    }

    /// True for a profile of a hand-over: nmgen's, or one of the initramfs's (`others`).
    fn is_given(&self, own: &Other, profiles: &[Other], others: &[Other]) -> bool {
        let is_one_of_others =
            |it: &Other| it.path.file_name() == own.path.file_name() && it.keyfile == own.keyfile;
        self.is_unedited(own)
            || own.is_generated()
            || profiles.iter().any(|it| is_same_uuid(it, own))
            || others.iter().any(is_one_of_others)
    }

    /// True when profiles that nmgen gave an earlier machine are for cards that this one lacks, and it has others without a
    /// profile: a card was replaced, or the disk is in another machine.
    fn lost_its_cards(&self, profiles: &[Other], cards: &[Card]) -> bool {
        let is_stale = |own: &Other| self.is_unedited(own) && is_stale(own, cards);
        let has_none = |profile: &Other| {
            let given = Given::of(profile, cards);
            let is_its = |own: &&Other| {
                (is_same_uuid(profile, own) || given.is_for_same(own)) && !is_stale(own)
            };
            given.card.is_some() && !self.own.iter().any(|own| is_its(&own))
        };
        self.own.iter().any(is_stale) && profiles.iter().any(has_none)
    }

    /// The profiles that it lacks, in whole components: a part would be no network, or take its own one's
    /// place. Those that are as nmgen wrote them are written anew where they differ, unless the system has edited a member of
    /// their component; one for a card that is gone in any case.
    fn lacks<'p>(&self, profiles: &'p [Other], cards: &[Card], log: &Log) -> Vec<&'p Other> {
        let component = components(profiles.iter().map(|profile| &profile.keyfile));
        let (mut has_own, mut is_edited) = (Vec::new(), Vec::new());
        for (profile, component) in profiles.iter().zip(&component) {
            let given = Given::of(profile, cards);
            if self.there(profile).is_some_and(|own| !self.is_unedited(own)) {
                is_edited.push(*component);
            }
            // A profile with this uuid is this profile, which the system may have edited.
            let is_other = |own: &&Other| {
                let is_same_file = profile.path.file_name() == own.path.file_name();
                !is_same_uuid(profile, own)
                    && !self.is_unedited(own)
                    && (is_same_file || given.is_for_same(own))
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
        let is_lacking = |(profile, component): &(&Other, usize)| {
            !has_own.contains(component)
                && self.there(profile).is_none_or(|own| {
                    self.is_unedited(own)
                        && own.keyfile != profile.keyfile
                        && (!is_edited.contains(component) || is_stale(own, cards))
                })
        };
        all.filter(is_lacking).map(|(profile, _)| profile).collect()
    }

    /// The system's profile with this one's uuid.
    fn there(&self, profile: &Other) -> Option<&Other> {
        self.own.iter().find(|own| is_same_uuid(profile, own))
    }

    /// Profiles as nmgen wrote them that this boot's document has no more: connected with those that it has, or left without
    /// their cards.
    fn remains(&self, profiles: &[Other], lacking: &[&Other], cards: &[Card]) -> Vec<&Other> {
        let there = |it: &&Other| self.there(it).is_some_and(|own| self.is_unedited(own));
        let mut given: Vec<&Other> = profiles.iter().filter(there).collect();
        given.extend(lacking);
        let own: Vec<&Other> = self.own.iter().filter(|own| self.is_unedited(own)).collect();
        let component = components(own.iter().map(|own| &own.keyfile));
        let stale: Vec<usize> = own
            .iter()
            .zip(&component)
            .filter(|(own, _)| is_stale(own, cards))
            .map(|(_, component)| *component)
            .collect();
        let is_remain = |(own, component): &(&Other, usize)| {
            let is_connected = |it: &&Other| {
                let pair = components([&it.keyfile, &own.keyfile]);
                pair[0] == pair[1] || Given::of(it, cards).is_for_same(own)
            };
            let is_stale = !lacking.is_empty() && stale.contains(component);
            !profiles.iter().any(|it| is_same_uuid(it, own))
                && (is_stale || given.iter().any(is_connected))
        };
        own.into_iter().zip(component).filter(is_remain).map(|(own, _)| own).collect()
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
            let mac = Given::of(profile, cards).mac();
            let fits = |own: &Other| own.mac().is_none() || mac.is_none() || own.mac() == mac;
            let takes_over = |own: &Other| is_same_uuid(profile, own) && is_alike(profile, own);
            self.own.iter().any(|own| {
                if takes_over(own) && !fits(own) {
                    let text = format!(
                        "{}: the profile is for another card than {}, which has no network in the running \
                         system",
                        own.path.display(),
                        profile.name()
                    );
                    log.say(Level::Warning, &text);
                }
                takes_over(own) && fits(own)
            })
        };
        let known: Vec<bool> = rest.iter().map(|it| is_known(it)).collect();
        let known = |profile: &Other| {
            rest.iter().zip(&known).any(|(it, known)| *known && it.path == profile.path)
        };
        let unknown: Vec<&Other> = rest.iter().filter(|it| !known(it)).copied().collect();
        // A port without its controller is no device of its profile any more.
        let has_lost = |profile: &Other| {
            let controller = profile.controller();
            controller.is_some()
                && unknown.iter().any(|it| [it.interface(), it.uuid()].contains(&controller))
        };
        let mut releases = Vec::new();
        for profile in rest.iter().filter(|it| !known(it) || has_lost(it)) {
            let given = Given::of(profile, cards);
            let Some(interface) = given.interface().map(str::to_owned) else { continue };
            if !line.has_network_root && !line.has_fcoe {
                releases.push(Release::Down { interface });
                continue;
            }
            let is_its = |own: &&Other| given.is_for_same(own) && is_alike(profile, own);
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

/// True for a profile of a card that this machine lacks.
fn is_stale(own: &Other, cards: &[Card]) -> bool {
    own.is_of_card() && own.mac().is_some_and(|mac| !cards.iter().any(|card| card.mac == mac))
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

/// Writes what the running system lacks, and reports the profiles that could not be written, with the fault.
fn hand_over(
    paths: &Paths,
    system: &System,
    line: &CommandLine,
    profiles: &[Other],
    others: &[Other],
    cards: &[Card],
    log: &Log,
) -> Result<(Handed, Result<(), Fault>), Fault> {
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
    let written =
        parents(&directory).and_then(|()| write::write(&directory, &files).map_err(Fault::Machine));
    if written.is_err() {
        // A profile in /etc must not be in /run too, where NetworkManager prefers it.
        let is_there = |file: &File| {
            files::read(&directory.join(&file.name)).is_ok_and(|content| content == file.content)
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
        give_others(paths, system, line, profiles, others, cards, log),
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

/// Hands the initramfs's other profiles over where coreos-teardown-initramfs would have done so, and says which cards have none.
fn give_others(
    paths: &Paths,
    system: &System,
    line: &CommandLine,
    profiles: &[Other],
    others: &[Other],
    cards: &[Card],
    log: &Log,
) -> Result<(), Fault> {
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

/// Writes the mark, after the digests of nmgen's profiles in the running system that are as this boot's first step staged them.
fn give_mark(system: &System, profiles: &[Other], mark: &Mark) -> Result<(), Fault> {
    let directory = system.root.place(ETC_PROFILES)?;
    let mut digests = system.digests.clone();
    for file in contents(profiles.iter())? {
        if files::read(&directory.join(&file.name)).is_ok_and(|content| content == file.content) {
            digests.add(&file);
        }
    }
    readable(&system.root.place(DIGESTS)?, digests.text().into_bytes())?;
    readable(&system.root.place(PERSISTED)?, mark.text().into_bytes())
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
    profiles.map(copy).collect()
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

//! The running system before the pivot: its own profiles, those of an earlier hand-over, and what it lacks of the document's.

use std::path::PathBuf;

use nmgen_core::node::Card;

use super::digests::{DIGESTS, Digests};
use super::own;
use super::release::Release;
use super::sysroot::Sysroot;
use crate::command_line::CommandLine;
use crate::fault::Fault;
use crate::files;
use crate::kernel_log::{Level, Log};
use crate::root::{ETC_PROFILES, PERSISTED, Paths};
use crate::write::components::components;
use crate::write::given::{Given, is_alike, is_same_uuid, is_wanted};
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::way_out::may_lead_out;

/// The running system before the pivot, and its own profiles.
pub(super) struct System {
    pub(super) root: Sysroot,
    pub(super) own: Vec<Other>,
    /// The mark of an earlier boot.
    pub(super) mark: Option<Mark>,
    pub(super) digests: Digests,
    /// The paths of profiles that are as nmgen wrote them, at an earlier boot.
    unedited: Vec<PathBuf>,
}

impl System {
    pub(super) fn look(paths: &Paths) -> Result<Self, Fault> {
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

    pub(super) fn is_unedited(&self, own: &Other) -> bool {
        self.unedited.contains(&own.path)
    }

    /// The reason why the running system gets no profile at all.
    pub(super) fn refuses(
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
                && self.comes_up(own)
                && (!own.is_of_any_card()
                    || is_wanted(own)
                    || own.keyfile.section("match").is_some())
                && !own::is_ignored(own);
            is_network && !self.is_given(own, profiles, others)
        })
    }

    /// False for a profile that waits for a person: NetworkManager activates it neither by itself nor for a port.
    fn comes_up(&self, own: &Other) -> bool {
        let is_asked_for = |it: &Other| {
            let controller = it.controller();
            is_automatic(it)
                && controller.is_some()
                && [own.interface(), own.uuid()].contains(&controller)
        };
        is_automatic(own) || self.own.iter().any(is_asked_for)
    }

    /// True for a profile of a hand-over: nmgen's, or one of the initramfs's (`others`).
    pub(super) fn is_given(&self, own: &Other, profiles: &[Other], others: &[Other]) -> bool {
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
    pub(super) fn lacks<'p>(
        &self,
        profiles: &'p [Other],
        cards: &[Card],
        log: &Log,
    ) -> Vec<&'p Other> {
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
    pub(super) fn there(&self, profile: &Other) -> Option<&Other> {
        self.own.iter().find(|own| is_same_uuid(profile, own))
    }

    /// Unedited profiles of an earlier hand-over that this boot's document lacks, and that are connected with its own or left
    /// without their cards: the caller removes them.
    pub(super) fn remains(
        &self,
        profiles: &[Other],
        lacking: &[&Other],
        cards: &[Card],
    ) -> Vec<&Other> {
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
    pub(super) fn releases(
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

fn is_automatic(own: &Other) -> bool {
    own.keyfile.get("connection", "autoconnect") != Some("false")
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

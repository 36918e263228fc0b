//! The plan of a hand-over: a verdict for each profile, as a pure function of what is there.

use nmgen_core::node::Card;

use super::refusal::refusal;
use super::release::Release;
use super::system::{OwnProfile, System};
use super::{supplicant, survivors};
use crate::command_line::CommandLine;
use crate::kernel_log::Level;
use crate::write::components::components;
use crate::write::given::{Given, is_alike, is_same_uuid};
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::profiles::without_profile;

/// What a hand-over is decided by.
pub(super) struct ProfileFacts<'a> {
    pub(super) line: &'a CommandLine,
    pub(super) system: &'a System,
    /// nmgen's profiles for the running system.
    pub(super) staged: &'a [Other],
    /// The file names of nmgen's profiles in the initramfs.
    pub(super) early: &'a [String],
    /// The initramfs's other profiles.
    pub(super) others: &'a [Other],
    /// coreos-teardown-initramfs would copy these, if the running system's profiles allowed it.
    pub(super) are_others_copied: bool,
    pub(super) cards: &'a [Card],
    /// This boot's mark.
    pub(super) mark: &'a Mark,
}

/// What becomes of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Disposition {
    /// The running system lacks it and gets it.
    Give,
    /// The running system has another text of an earlier hand-over, and gets this one.
    Rewrite,
    /// The running system has it of an earlier hand-over, and it stays.
    Keep,
    /// The running system's own network stays in its place, or there is none.
    Leave,
}

/// What the running system gets, what it loses, and what is said of it.
pub(super) struct Plan<'a> {
    /// The running system gets no profile at all.
    pub(super) is_refused: bool,
    /// nmgen's profiles that are written.
    pub(super) written: Vec<&'a Other>,
    /// nmgen's profiles that the running system has at the end.
    pub(super) given: Vec<&'a Other>,
    /// Profiles of an earlier hand-over that are removed.
    pub(super) removed: Vec<&'a OwnProfile>,
    /// The initramfs's other profiles that the running system gets too.
    pub(super) others: Vec<&'a Other>,
    /// Cards that have a profile in the initramfs, and none in the running system.
    pub(super) bare_cards: Vec<&'a str>,
    pub(super) releases: Vec<Release>,
    pub(super) notes: Vec<(Level, String)>,
}

impl<'a> Plan<'a> {
    pub(super) fn new(facts: &ProfileFacts<'a>) -> Self {
        let mut notes = Vec::new();
        let refusal = refusal(facts);
        let is_refused = refusal.is_some();
        notes.extend(refusal);
        let members = facts.members();
        if !is_refused {
            let ignored =
                members.iter().filter_map(|member| member.rival).filter(|own| own.is_ignored);
            notes.extend(ignored.map(|own| {
                let text = "NetworkManager ignores this profile, as others than root may read it";
                (Level::Warning, format!("{}: {text}", own.path.display()))
            }));
            if facts.system.mark.is_some() {
                let text = "profiles of an earlier hand-over are for cards that this machine lacks: those that nobody has edited are \
                            written anew";
                notes.push((Level::Warning, text.to_owned()));
            }
        }
        let verdicts: Vec<(&Member<'a>, Disposition)> = members
            .iter()
            .map(|member| (member, member.verdict(&members, is_refused, facts.cards)))
            .collect();
        let with = |wanted: &[Disposition]| -> Vec<&Member<'a>> {
            let hits = verdicts.iter().filter(|(_, verdict)| wanted.contains(verdict));
            hits.map(|(member, _)| *member).collect()
        };
        let left = with(&[Disposition::Leave]);
        if !is_refused && !left.is_empty() {
            let names: Vec<String> =
                left.iter().map(|member| member.given.profile.name()).collect();
            let text = format!("the running system has its own network for {}", names.join(", "));
            notes.push((Level::Info, text));
        }
        let mut active = with(&[Disposition::Keep, Disposition::Leave]);
        // Without a profile of nmgen's in this boot, an interface is others'.
        active.retain(|member| member.is_early);
        let mut releases = releases(facts, &active, &mut notes);
        let early: Vec<&Other> = members
            .iter()
            .filter(|member| member.is_early)
            .map(|member| member.given.profile)
            .collect();
        releases.extend(supplicant::releases(&releases, facts, &early, &mut notes));
        let written = with(&[Disposition::Give, Disposition::Rewrite]);
        let ours = with(&[Disposition::Give, Disposition::Rewrite, Disposition::Keep]);
        let removed =
            if is_refused { Vec::new() } else { facts.remains(&ours, !written.is_empty()) };
        let given = verdicts
            .iter()
            .filter(|(member, verdict)| *verdict != Disposition::Leave || member.own.is_some());
        let (others, bare_cards) = facts.surviving_others();
        Self {
            is_refused,
            written: written.iter().map(|member| member.given.profile).collect(),
            given: given.map(|(member, _)| member.given.profile).collect(),
            removed,
            others,
            bare_cards,
            releases,
            notes,
        }
    }
}

/// A staged profile beside the running system's.
struct Member<'a> {
    given: Given<'a>,
    component: usize,
    is_early: bool,
    /// The system's profile with this uuid is this profile, which the system may have edited.
    own: Option<&'a OwnProfile>,
    /// The system's own profile for the same, in the interface or in the file's name.
    rival: Option<&'a OwnProfile>,
}

impl Member<'_> {
    /// Profiles are given in whole components: a part would be no network, or take its own one's place. Those that are as nmgen
    /// wrote them are written anew where they differ, unless the system has edited a member of their component; one for a card
    /// that is gone in any case.
    fn verdict(&self, all: &[Self], is_refused: bool, cards: &[Card]) -> Disposition {
        let mut component = all.iter().filter(|member| member.component == self.component);
        let is_edited =
            component.clone().any(|member| member.own.is_some_and(|own| !own.is_unedited));
        let stays = is_refused || component.any(|member| member.rival.is_some());
        match self.own {
            Some(own) if !own.is_unedited => Disposition::Leave,
            None if stays => Disposition::Leave,
            None => Disposition::Give,
            Some(_) if stays => Disposition::Keep,
            Some(own) if own.keyfile == self.given.profile.keyfile => Disposition::Keep,
            Some(own) if is_edited && !is_stale(own, cards) => Disposition::Keep,
            Some(_) => Disposition::Rewrite,
        }
    }

    /// True when the running system's NetworkManager takes the device over with its profile of this uuid.
    fn is_alike(&self) -> bool {
        self.own.is_some_and(|own| is_alike(self.given.profile, own))
    }

    /// False when the running system's profile of this uuid is for another card.
    fn fits(&self) -> bool {
        let (own, mac) = (self.own.and_then(|own| own.mac()), self.given.mac());
        own.is_none() || mac.is_none() || own == mac
    }
}

impl<'a> ProfileFacts<'a> {
    fn members(&self) -> Vec<Member<'a>> {
        let component = components(self.staged.iter().map(|profile| &profile.keyfile));
        let member = |(profile, component): (&'a Other, usize)| {
            let given = Given::of(profile, self.cards);
            let own = self.system.own.iter().find(|own| is_same_uuid(profile, own));
            let rival = self.system.own.iter().find(|own| {
                let is_same_file = profile.path.file_name() == own.path.file_name();
                !is_same_uuid(profile, own)
                    && !own.is_unedited
                    && (is_same_file || given.is_for_same(own))
            });
            let is_early = self.early.contains(&profile.file_name());
            Member { given, component, is_early, own, rival }
        };
        self.staged.iter().zip(component).map(member).collect()
    }

    /// True for a profile of a hand-over: nmgen's, or one of the initramfs's.
    pub(super) fn is_of_hand_over(&self, own: &OwnProfile) -> bool {
        own.is_unedited
            || own.is_generated()
            || self.staged.iter().any(|profile| is_same_uuid(profile, own))
            || self.others.iter().any(|other| {
                other.path.file_name() == own.path.file_name() && other.keyfile == own.keyfile
            })
    }

    /// Unedited profiles of an earlier hand-over that this boot's document lacks, and that are connected with its own (`ours`), or
    /// left without their cards if anything is written.
    fn remains(&self, ours: &[&Member<'a>], is_written: bool) -> Vec<&'a OwnProfile> {
        let own: Vec<&OwnProfile> = self.system.own.iter().filter(|own| own.is_unedited).collect();
        let component = components(own.iter().map(|own| &own.keyfile));
        let own = || own.iter().copied().zip(&component);
        let stale: Vec<usize> = own()
            .filter(|(own, _)| is_stale(own, self.cards))
            .map(|(_, component)| *component)
            .collect();
        let is_remain = |(own, component): &(&OwnProfile, &usize)| {
            let is_connected = |member: &&Member<'a>| {
                let pair = components([&member.given.profile.keyfile, &own.keyfile]);
                pair[0] == pair[1] || member.given.is_for_same(own)
            };
            !self.staged.iter().any(|profile| is_same_uuid(profile, own))
                && ((is_written && stale.contains(component)) || ours.iter().any(is_connected))
        };
        own().filter(is_remain).map(|(own, _)| own).collect()
    }

    /// The initramfs's other profiles that coreos-teardown-initramfs would hand over without nmgen's, and the cards that are left
    /// without a profile nevertheless. It hands none over to a system with a profile of its own.
    fn surviving_others(&self) -> (Vec<&'a Other>, Vec<&'a str>) {
        let is_own = |own: &OwnProfile| own.is_in_etc && !self.is_of_hand_over(own);
        if !self.are_others_copied || self.system.own.iter().any(is_own) {
            return (Vec::new(), Vec::new());
        }
        let staged: Vec<&Other> = self.staged.iter().collect();
        let wanted = survivors::wanted(self.others, &staged, self.cards);
        let before: Vec<&Other> =
            self.others.iter().filter(|other| !other.is_plain_default()).collect();
        let after: Vec<&Other> = staged.into_iter().chain(wanted.iter().copied()).collect();
        let bare = without_profile(self.cards, &before, &after);
        (wanted, bare.map(|card| card.name.as_str()).collect())
    }
}

/// Interfaces whose profiles the running system does not get, and their release.
fn releases<'a>(
    facts: &ProfileFacts<'a>,
    active: &[&Member<'a>],
    notes: &mut Vec<(Level, String)>,
) -> Vec<Release> {
    for member in active.iter().filter(|member| member.is_alike() && !member.fits()) {
        let text = format!(
            "{}: the profile is for another card than {}, which has no network in the running system",
            member.own.map(|own| own.path.display().to_string()).unwrap_or_default(),
            member.given.profile.name()
        );
        notes.push((Level::Warning, text));
    }
    let is_known = |member: &Member<'_>| member.is_alike() && member.fits();
    let unknown: Vec<&Other> = active
        .iter()
        .filter(|member| !is_known(member))
        .map(|member| member.given.profile)
        .collect();
    // A port without its controller is no device of its profile any more.
    let has_lost = |profile: &Other| {
        let controller = profile.controller();
        controller.is_some()
            && unknown.iter().any(|other| [other.interface(), other.uuid()].contains(&controller))
    };
    let mut releases = Vec::new();
    for member in active.iter().filter(|member| !is_known(member) || has_lost(member.given.profile))
    {
        let given = &member.given;
        let Some(interface) = given.interface().map(str::to_owned) else { continue };
        if !facts.line.has_network_root && !facts.line.has_fcoe {
            releases.push(Release::Down { interface });
            continue;
        }
        let mut its = facts.system.own.iter().filter(|own| given.is_for_same(own));
        match its.find_map(|own| own.uuid().filter(|_| is_alike(given.profile, own))) {
            Some(uuid) => releases.push(Release::Adopt { interface, uuid: uuid.to_owned() }),
            None => {
                let text = format!(
                    "{interface} stays as the initramfs has it, since the root disk is on the \
                     network; the running system has no profile for it"
                );
                notes.push((Level::Warning, text));
            }
        }
    }
    releases
}

/// True for a profile of a card that this machine lacks.
pub(super) fn is_stale(own: &Other, cards: &[Card]) -> bool {
    own.is_of_card() && own.mac().is_some_and(|mac| !cards.iter().any(|card| card.mac == mac))
}

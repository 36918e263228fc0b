//! Whether the running system gets profiles at all.

use super::plan::{ProfileFacts, is_stale};
use super::system::OwnProfile;
use crate::kernel_log::Level;
use crate::root::PERSISTED;
use crate::write::given::{Given, is_same_uuid, is_wanted};
use crate::write::mark::Mark;
use crate::write::others::Other;
use crate::write::way_out::may_lead_out;

/// The reason why the running system gets no profile at all.
pub(super) fn refusal(facts: &ProfileFacts<'_>) -> Option<(Level, String)> {
    let line = facts.line;
    if let Some(mark) = &facts.system.mark {
        let is_refused = line.persist == Some(false) || !has_lost_its_cards(facts);
        return is_refused.then(|| earlier(mark, facts.mark));
    }
    let text = match line.persist {
        Some(true) => return None,
        Some(false) => "nmgen.persist=0: the running system gets no profile".to_owned(),
        None if line.is_first_boot && line.forces_network && !line.keeps_no_network => return None,
        None => format!(
            "the running system has its own network ({}): it gets no profile without nmgen.persist=1",
            own_network(facts)?.name()
        ),
    };
    Some((Level::Info, text))
}

/// The first profile of a network of the running system's own that may have a default route; not one that nmgen gave it, now
/// or before a power cut. A storage network, say, is no reason to withhold the network that the node is reached by.
fn own_network<'a>(facts: &ProfileFacts<'a>) -> Option<&'a OwnProfile> {
    facts.system.own.iter().find(|own| {
        !own.keyfile.sections.is_empty()
            && may_lead_out(&own.keyfile)
            && own.interface() != Some("lo")
            && comes_up(own, &facts.system.own)
            && (!own.is_of_any_card() || is_wanted(own) || own.keyfile.section("match").is_some())
            && !own.is_ignored
            && !facts.is_of_hand_over(own)
    })
}

/// False for a profile that waits for a person: NetworkManager activates it neither by itself nor for a port.
fn comes_up(own: &Other, all: &[OwnProfile]) -> bool {
    let is_automatic =
        |profile: &Other| profile.keyfile.get("connection", "autoconnect") != Some("false");
    let is_its_port = |port: &OwnProfile| {
        let controller = port.controller();
        controller.is_some() && [own.interface(), own.uuid()].contains(&controller)
    };
    is_automatic(own)
        || all.iter().any(|own_profile| is_automatic(own_profile) && is_its_port(own_profile))
}

/// True when profiles that nmgen gave an earlier machine are for cards that this one lacks, and it has others without a
/// profile: a card was replaced, or the disk is in another machine.
fn has_lost_its_cards(facts: &ProfileFacts<'_>) -> bool {
    let is_stale = |own: &OwnProfile| own.is_unedited && is_stale(own, facts.cards);
    let own = &facts.system.own;
    let has_none = |profile: &Other| {
        let given = Given::of(profile, facts.cards);
        let is_its = |own: &OwnProfile| is_same_uuid(profile, own) || given.is_for_same(own);
        given.card.is_some() && !own.iter().any(|own| is_its(own) && !is_stale(own))
    };
    own.iter().any(is_stale) && facts.staged.iter().any(has_none)
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

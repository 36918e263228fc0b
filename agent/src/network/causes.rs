//! Causes that NetworkManager, its files and the wire know, and that a wait which fails does not name; each with what mends it.

use std::{
    fs,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{Result, real::first_wants};
use crate::{
    client::{
        dbus::{Bus, CardState},
        netlink::Netlink,
    },
    model::{Family, Link, LinkRef, OnLink, Planned, Profile, connection::Record},
    paths::Paths,
    probe::wire::{self, Verdict},
    state::Parsed,
};

/// The bits of a profile's mode that NetworkManager refuses: it has secrets.
const OF_OTHERS: u32 = 0o077;
/// Cards and profiles that are named, of a machine that may have many.
const NAMED: usize = 4;

/// Why a node has no network, and what mends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Cause {
    pub(crate) what: String,
    pub(crate) remedy: String,
}

impl Cause {
    fn new(what: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { what: what.into(), remedy: remedy.into() }
    }
}

/// A file that NetworkManager does not read as it is.
struct IgnoredFile {
    path: PathBuf,
    mode: u32,
    owner: u32,
}

/// What the causes are found from.
#[derive(Default)]
struct Evidence {
    is_networking_off: bool,
    ignored: Vec<IgnoredFile>,
    profiles: Vec<Profile>,
    links: Vec<Link>,
    has_default_route: bool,
    /// Cards that NetworkManager does not manage, or whose activation fails, in words.
    cards: Vec<CardState>,
}

/// Returns the causes, the one that explains the others first. `document` is this node's.
pub(crate) async fn causes(paths: &Paths, document: Option<&Parsed>) -> Result<Vec<Cause>> {
    let (bus, netlink) = (Bus::connect().await?, Netlink::connect()?);
    let links = netlink.links().await?;
    let wants = document.map(|document| first_wants(document, &links)).unwrap_or_default();
    let cards: Vec<String> =
        links.iter().filter(|link| link.physical).map(|link| link.name.clone()).collect();
    let profiles = configured(&bus).await?;
    let evidence = Evidence {
        has_default_route: !netlink.default_routes().await?.is_empty(),
        is_networking_off: bus.is_networking_off().await?,
        ignored: ignored_files(&paths.profile_directories()),
        profiles,
        cards: bus.card_states(&cards).await?,
        links,
    };
    let mut found = judged(&evidence);
    if !evidence.is_networking_off {
        let planned = [wants.planned(), addresses(&evidence.profiles)].concat();
        let taken = wire::before_use(&planned, paths, &netlink).await?;
        let taken = taken.into_iter().filter(|finding| finding.result == Verdict::Failed);
        let mut taken: Vec<Cause> = taken
            .map(|finding| Cause::new(finding.detail, finding.next.unwrap_or_default()))
            .collect();
        taken.dedup_by(|a, b| a.remedy == b.remedy);
        found.splice(0..0, taken);
    }
    Ok(found)
}

/// The profiles that somebody has configured: NetworkManager makes some of its own, for cards that have none.
pub(crate) async fn configured(bus: &Bus) -> Result<Vec<Profile>> {
    let configured: Vec<String> =
        bus.profiles().await?.into_iter().map(|profile| profile.uuid).collect();
    let mut profiles = bus.connections().await?;
    profiles.retain(|profile| configured.iter().any(|uuid| uuid == profile.uuid()));
    Ok(profiles)
}

fn judged(evidence: &Evidence) -> Vec<Cause> {
    if evidence.is_networking_off {
        return vec![Cause::new(
            "NetworkManager's networking is off, and stays off at each boot",
            "`nmcli networking on`",
        )];
    }
    let mut causes: Vec<Cause> = evidence.ignored.iter().map(ignored).collect();
    causes.extend(without_card(evidence));
    causes.extend(evidence.cards.iter().filter_map(|card| of_card(card, &evidence.profiles)));
    if causes.is_empty() && !evidence.has_default_route {
        causes.extend(without_gateway(&evidence.profiles));
    }
    causes
}

/// Static profiles that neither name a gateway nor ask for one.
fn without_gateway(profiles: &[Profile]) -> Option<Cause> {
    let asks = |profile: &Profile, family: Family| {
        let gateway = profile.settings.text(family.section(), "gateway");
        let is_default =
            |route: &Record| route.get("prefix").and_then(|prefix| prefix.number()) == Some(0);
        let mut routes = profile.settings.records(family.section(), "route-data").iter();
        profile.is_dynamic(family) || gateway.is_some() || routes.any(is_default)
    };
    let is_static = |profile: &&Profile| {
        profile.connects_by_itself()
            && profile.settings.text("ipv4", "method") == Some("manual")
            && !Family::ALL.into_iter().any(|family| asks(profile, family))
    };
    let id = profiles.iter().find(is_static)?.id();
    Some(Cause::new(
        format!(
            "the profile {id} has an address and no gateway, so that this node has no default route"
        ),
        format!("`nmcli connection modify {id} ipv4.gateway ADDRESS; nmcli connection up {id}`"),
    ))
}

fn ignored(file: &IgnoredFile) -> Cause {
    let path = file.path.display();
    let (why, mend) = match file.owner {
        0 => (format!("its mode is {:04o}", file.mode), format!("chmod 0600 {path}")),
        owner => (
            format!("its owner is {owner} and not root"),
            format!("chown root:root {path}; chmod 0600 {path}"),
        ),
    };
    Cause::new(
        format!("NetworkManager ignores the profile {path}: {why}"),
        format!("`{mend}; nmcli connection reload`"),
    )
}

/// Profiles whose card is not there, beside the cards that no profile names.
fn without_card(evidence: &Evidence) -> Option<Cause> {
    let is_there = |name: &str| {
        let wanted = LinkRef::Name(name.to_owned());
        evidence.links.iter().any(|link| link.is(&wanted))
    };
    let lacks_card = |profile: &&Profile| {
        profile.kind() == "802-3-ethernet"
            && profile.connects_by_itself()
            && profile.interface_name().is_some_and(|name| !is_there(name))
    };
    let profiles: Vec<&Profile> = evidence.profiles.iter().filter(lacks_card).collect();
    let first = profiles.first()?;
    let is_named = |link: &Link| {
        evidence.profiles.iter().any(|profile| profile.interface_name() == Some(link.name.as_str()))
    };
    let is_free = |link: &&Link| link.physical && !is_named(link);
    let cards: Vec<&Link> = evidence.links.iter().filter(is_free).collect();
    let named = |profile: &&Profile| {
        format!("{} (profile {})", profile.interface_name().unwrap_or_default(), profile.id())
    };
    let lacking: Vec<String> = profiles.iter().take(NAMED).map(named).collect();
    let with_mac = |link: &&Link| match link.macs().next() {
        Some(mac) => format!("{} ({mac})", link.name),
        None => link.name.clone(),
    };
    let free: Vec<String> = cards.iter().take(NAMED).map(with_mac).collect();
    let others = match free.is_empty() {
        true => "every card has a profile of its name".to_owned(),
        false => format!("no profile names {}", free.join(", ")),
    };
    let remedy = match cards.as_slice() {
        [card] => {
            let (id, card) = (first.id(), &card.name);
            format!(
                "`nmcli connection modify {id} connection.interface-name {card}; nmcli connection up {id}` \
                 if the card has another name now"
            )
        }
        _ => "plug the card in, or give its profile the name that it has now".to_owned(),
    };
    let what = format!("this node has no card {}; {others}", lacking.join(", "));
    Some(Cause::new(what, remedy))
}

fn of_card(card: &CardState, profiles: &[Profile]) -> Option<Cause> {
    let name = &card.name;
    // Somebody else has the cards that no profile names.
    let is_wanted = profiles.iter().any(|profile| {
        profile.interface_name() == Some(name.as_str()) && profile.connects_by_itself()
    });
    match (&card.failure, card.is_unmanaged && is_wanted) {
        (Some(why), _) => Some(Cause::new(
            format!("NetworkManager cannot activate {name}: {why}"),
            format!(
                "`journalctl --boot --unit=NetworkManager.service | grep {name}` has the details"
            ),
        )),
        (None, true) => Some(Cause::new(
            format!("NetworkManager does not manage {name}"),
            format!(
                "`nmcli device set {name} managed yes`; look for `unmanaged-devices` in `NetworkManager --print-config`"
            ),
        )),
        (None, false) => None,
    }
}

/// The files that NetworkManager finds, and ignores for their mode or their owner.
fn ignored_files(directories: &[PathBuf]) -> Vec<IgnoredFile> {
    let entries = directories
        .iter()
        .take(2)
        .flat_map(|directory| fs::read_dir(directory).into_iter().flatten().flatten());
    let files = entries.map(|entry| entry.path()).filter(|path| is_profile(path));
    let ignored = files.filter_map(|path| {
        let metadata = fs::metadata(&path).ok()?;
        let (mode, owner) = (metadata.mode() & 0o7777, metadata.uid());
        (mode & OF_OTHERS != 0 || owner != 0).then_some(IgnoredFile { path, mode, owner })
    });
    let mut ignored: Vec<IgnoredFile> = ignored.collect();
    ignored.sort_by(|a, b| a.path.cmp(&b.path));
    ignored.truncate(NAMED);
    ignored
}

pub(crate) fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "nmconnection")
}

/// The static IPv4 addresses of the profiles that connect by themselves, each to be asked for on its interface.
pub(crate) fn addresses(profiles: &[Profile]) -> Vec<Planned> {
    let mut found = Vec::new();
    for profile in profiles.iter().filter(|profile| profile.connects_by_itself()) {
        let Some(link) = profile.interface_name() else { continue };
        let on = |record: &Record| {
            let ip = record.get("address")?.text()?.parse().ok()?;
            let prefix = record.get("prefix")?.number()?.try_into().ok()?;
            Some(OnLink { link: link.to_owned(), ip, prefix })
        };
        let all = profile.settings.records("ipv4", "address-data").iter().filter_map(on);
        found.extend(all.map(|on| Planned { on, links: vec![link.to_owned()] }));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Mac, connection::Value};
    use std::os::unix::fs::PermissionsExt as _;

    fn profile(id: &str, card: &str) -> Profile {
        let mut profile = Profile::default();
        for (property, text) in [("id", id), ("type", "802-3-ethernet"), ("interface-name", card)] {
            profile.settings.set("connection", property, text);
        }
        profile
    }

    fn card(name: &str, last: u8) -> Link {
        let mac = Mac::of_ethernet(&[0x52, 0x54, 0, 0, 0, last]);
        Link { name: name.to_owned(), physical: true, mac, ..Link::default() }
    }

    fn state(name: &str, is_unmanaged: bool, failure: Option<&str>) -> CardState {
        CardState { name: name.to_owned(), is_unmanaged, failure: failure.map(str::to_owned) }
    }

    #[test]
    fn each_cause_is_named_with_the_command_that_mends_it() {
        let renamed = || Evidence {
            profiles: vec![profile("eno1", "eno1")],
            links: vec![card("eno1np0", 1)],
            ..Evidence::default()
        };
        let with_card = |state| Evidence {
            profiles: vec![profile("eno1", "eno1")],
            links: vec![card("eno1", 1)],
            cards: vec![state],
            ..Evidence::default()
        };
        let without_gateway = || {
            let mut eno1 = profile("eno1", "eno1");
            eno1.settings.set("ipv4", "method", "manual");
            Evidence { profiles: vec![eno1], links: vec![card("eno1", 1)], ..Evidence::default() }
        };
        let ignored = |mode, owner| Evidence {
            ignored: vec![IgnoredFile { path: "/etc/x.nmconnection".into(), mode, owner }],
            ..Evidence::default()
        };
        for (evidence, what, remedy) in [
            (
                Evidence { is_networking_off: true, ..renamed() },
                "networking is off",
                "`nmcli networking on`",
            ),
            (
                ignored(0o644, 0),
                "ignores the profile /etc/x.nmconnection: its mode is 0644",
                "`chmod 0600 /etc/x.nmconnection; nmcli connection reload`",
            ),
            (
                ignored(0o600, 1000),
                "its owner is 1000",
                "`chown root:root /etc/x.nmconnection; chmod 0600",
            ),
            (
                renamed(),
                "no card eno1 (profile eno1); no profile names eno1np0 (52:54:00:00:00:01)",
                "`nmcli connection modify eno1 connection.interface-name eno1np0; nmcli connection up eno1`",
            ),
            (
                Evidence {
                    links: vec![card("eno2", 2)],
                    profiles: vec![profile("eno1", "eno1"), profile("eno2", "eno2")],
                    ..Evidence::default()
                },
                "no card eno1 (profile eno1); every card has a profile of its name",
                "plug the card in",
            ),
            (
                with_card(state("eno1", true, None)),
                "does not manage eno1",
                "`nmcli device set eno1 managed yes`",
            ),
            (
                with_card(state("eno1", false, Some("why"))),
                "cannot activate eno1: why",
                "`journalctl ",
            ),
            (
                without_gateway(),
                "the profile eno1 has an address and no gateway",
                "`nmcli connection modify eno1 ipv4.gateway ADDRESS; nmcli connection up eno1`",
            ),
        ] {
            let causes = judged(&evidence);
            let [cause] = causes.as_slice() else { unreachable!("{what}: {causes:?}") };
            assert!(cause.what.contains(what), "{what} in {}", cause.what);
            assert!(cause.remedy.starts_with(remedy), "{remedy} in {}", cause.remedy);
        }
        let others = Evidence { cards: vec![state("eno9", true, None)], ..Evidence::default() };
        assert_eq!(judged(&others), Vec::new());
        let leads_out = Evidence { has_default_route: true, ..without_gateway() };
        assert_eq!(judged(&leads_out), Vec::new());
        // As nmstate writes it.
        let mut by_route = without_gateway();
        let route = [
            ("dest".to_owned(), Value::from("0.0.0.0")),
            ("prefix".to_owned(), Value::U32(0)),
            ("next-hop".to_owned(), Value::from("192.0.2.1")),
        ];
        let routes = Value::Records(vec![route.into()]);
        by_route.profiles[0].settings.set("ipv4", "route-data", routes);
        assert_eq!(judged(&by_route), Vec::new());
        let good = Evidence {
            profiles: vec![profile("eno1", "eno1")],
            links: vec![card("eno1", 1)],
            cards: vec![state("eno1", false, None)],
            ..Evidence::default()
        };
        assert_eq!(judged(&good), Vec::new());
    }

    #[test]
    fn a_profile_that_others_may_read_is_ignored() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        for (name, mode) in [("a.nmconnection", 0o600), ("b.nmconnection", 0o644), ("c", 0o644)] {
            let path = directory.path().join(name);
            fs::write(&path, "")?;
            fs::set_permissions(&path, fs::Permissions::from_mode(mode))?;
        }
        let found = ignored_files(&[directory.path().to_owned()]);
        let names: Vec<_> = found.iter().filter_map(|file| file.path.file_name()).collect();
        let owner = fs::metadata(directory.path())?.uid();
        assert!(names.contains(&"b.nmconnection".as_ref()));
        assert_eq!(names.len(), if owner == 0 { 1 } else { 2 });
        Ok(())
    }

    #[test]
    fn the_addresses_of_a_profile_are_asked_for_on_its_card() {
        let mut eno1 = profile("eno1", "eno1");
        let record = [
            ("address".to_owned(), Value::from("192.0.2.10")),
            ("prefix".to_owned(), Value::U32(24)),
        ];
        eno1.settings.set("ipv4", "address-data", Value::Records(vec![record.into()]));
        let found = addresses(&[eno1.clone(), profile("eno2", "eno2")]);
        let [planned] = found.as_slice() else { unreachable!("{found:?}") };
        assert_eq!((planned.on.prefix, planned.links.as_slice()), (24, &["eno1".to_owned()][..]));
        eno1.settings.set("connection", "autoconnect", Value::Bool(false));
        assert!(addresses(&[eno1]).is_empty());
    }
}

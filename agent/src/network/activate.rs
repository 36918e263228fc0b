//! Activation of profiles that did not come up by themselves.

use super::{NetworkError, Result, Say, cards, clients::Clients, hung, readiness, stale};
use nmgen::chain;

use crate::{
    client::ovsdb::Ovsdb,
    model::{Active, Before, Link, LinkRef, Wants},
    warn::OrWarn as _,
};

/// Activates those of `profiles` that are not up. Interfaces first: they bring their OVS bridges
/// and ports up. An activating profile is restarted, since a DHCP client without an answer retries
/// less and less often. NetworkManager is restarted where it takes a deleted bridge for active or does
/// not end a deactivation, links that something has set down are set up, and stale ones are removed.
pub(super) async fn activate(net: &Clients<'_>, profiles: &[Active], say: Say<'_>) -> Result {
    readiness::network_manager(net, say).await?;
    let interfaces = profiles.iter().filter(|profile| profile.kind == "ovs-interface");
    let interfaces: Vec<&str> = interfaces.map(|profile| profile.device.as_str()).collect();
    let mut activated = stale::remove(net, &interfaces).await?;
    if let Some(why) = needs_restart(net, profiles, &interfaces).await? {
        return readiness::restart_network_manager(net, &why, say).await;
    }
    let mut order: Vec<&Active> = profiles.iter().collect();
    order.sort_by_key(|profile| ["ovs-bridge", "ovs-port"].contains(&profile.kind.as_str()));
    activated |= cards::set_up_those_of(net, profiles).await?;
    for profile in order {
        activated |= activate_one(net, profile, "activating").await?;
    }
    if activated { Ok(()) } else { Err(NetworkError::NoProfile) }
}

/// Activates a profile that is not up, and tells why; true if NetworkManager does it. Its refusal is told alone: what is missing
/// without the profile is the caller's to find.
async fn activate_one(net: &Clients<'_>, profile: &Active, why: &str) -> Result<bool> {
    if net.bus.activated().await?.contains(&profile.uuid) {
        return Ok(false);
    }
    tracing::info!(profile = %profile.uuid, device = %profile.device, "{why}");
    let done = net.bus.activate(profile).await;
    if let Err(error) = &done {
        tracing::warn!(device = %profile.device, "{}", chain(error));
    }
    Ok(done.is_ok())
}

/// Activates profiles of cards in Open vSwitch that are not up. Frames pass without them, so nobody waits for them: NetworkManager
/// refuses an activation, or leaves it in the middle, while Open vSwitch's database refuses each change, as on a full disk.
pub(super) async fn cards_of_bridges(net: &Clients<'_>, profiles: &[Active]) -> Result {
    for card in Active::cards_in_open_vswitch(profiles) {
        activate_one(net, card, "activating").await?;
    }
    Ok(())
}

/// Activates interfaces again that waited for an address of the network before the change, and still do. A DHCP client without an
/// answer asks once a minute by then (RFC 2131, 4.1), though its bridge may have got its uplink just now; and nmstate leaves an
/// interface alone whose profile stays as it was. A profile that has another one in its place is left alone.
pub(super) async fn ask_again(net: &Clients<'_>, before: &Before, wants: &Wants) -> Result {
    let unanswered = unanswered(before, wants);
    if unanswered.is_empty() {
        return Ok(());
    }
    let now = net.bus.active().await?;
    let is_replaced = |profile: &&Active| {
        now.iter().any(|active| {
            active.device == profile.device
                && active.kind == profile.kind
                && active.uuid != profile.uuid
        })
    };
    for profile in unanswered.into_iter().filter(|profile| !is_replaced(profile)) {
        activate_one(net, profile, "no address came before the change; activating it again")
            .await?;
    }
    Ok(())
}

/// Profiles of interfaces with addresses from the network whose activation had not ended before the change.
fn unanswered<'a>(before: &'a Before, wants: &Wants) -> Vec<&'a Active> {
    let is_dynamic =
        |active: &Active| wants.dynamic.iter().any(|dynamic| dynamic.link == active.device);
    let is_interface =
        |active: &Active| !["ovs-bridge", "ovs-port"].contains(&active.kind.as_str());
    let waited = |active: &&Active| {
        is_dynamic(active) && is_interface(active) && !before.activated.contains(&active.uuid)
    };
    before.active.iter().filter(waited).collect()
}

/// The reason why only a new start of NetworkManager helps, if there is one.
async fn needs_restart(
    net: &Clients<'_>,
    profiles: &[Active],
    interfaces: &[&str],
) -> Result<Option<String>> {
    let deleted = deleted(net, profiles).await?;
    if !deleted.is_empty() {
        let names = deleted.join(", ");
        return Ok(Some(format!("Open vSwitch lacks {names}, which NetworkManager shows as up")));
    }
    hung::endless_deactivation(net, interfaces).await
}

/// Bridges, and cards with a carrier as ports of one, that NetworkManager shows as active and Open vSwitch does not have. Where
/// somebody deletes a bridge with ports of others, NetworkManager 1.52 may keep it, its ports and interfaces as active; and in a
/// database that is repaired in a running system it may make a bridge without its card. Neither an activation nor a reapply makes
/// them again, only a new start, which finds them missing.
async fn deleted(net: &Clients<'_>, profiles: &[Active]) -> Result<Vec<String>> {
    let active = net.bus.activated().await?;
    let of = |kind: &'static str| {
        let active = &active;
        let is_active =
            move |profile: &&Active| profile.kind == kind && active.contains(&profile.uuid);
        profiles.iter().filter(is_active).map(|profile| profile.device.clone())
    };
    let mut bridges: Vec<String> = of("ovs-bridge").collect();
    if bridges.is_empty() {
        return Ok(bridges);
    }
    let there = Ovsdb::connect(&net.paths.ovsdb_socket()).await?.bridges().await?;
    bridges.retain(|name| there.iter().all(|bridge| bridge.name != *name));
    let links = net.netlink.links().await?;
    let is_connected = |name: &String| {
        links.iter().any(|link| link.name == *name && link.physical && link.has_carrier)
    };
    // A card whose own profile is down is made a port again by its activation.
    let is_up = |name: &String| {
        let mut cards = Active::cards_in_open_vswitch(profiles);
        cards.any(|card| card.device == *name && active.contains(&card.uuid))
    };
    let ports = of("ovs-port").filter(|name| is_connected(name) && is_up(name));
    bridges.extend(ports.filter(|name| !there.iter().any(|bridge| bridge.has_port(name))));
    Ok(bridges)
}

/// Devices that have lost a recorded profile, for one of four reasons. NetworkManager has no such profile. The profile is not
/// activated, although its device has a default route (which stays while NetworkManager waits for Open vSwitch to remove the link)
/// or is a card of this network with a carrier. A recorded card is missing, and none has a profile's name: it is out, or renamed.
/// Open vSwitch lacks a bridge or a card that NetworkManager shows as up.
pub(super) async fn lost(
    net: &Clients<'_>,
    profiles: &[Active],
    cards: &[LinkRef],
) -> Result<Vec<String>> {
    let there = net.bus.profiles().await?.into_iter().map(|profile| profile.uuid).collect();
    let up = net.bus.activated().await?.into_iter().collect();
    let routes = net.netlink.default_routes().await?.into_iter().map(|route| route.link).collect();
    let links = net.netlink.links().await?;
    let mut lost = Seen { there, up, routes, links }.lost(profiles, cards);
    lost.extend(deleted(net, profiles).await.or_warn().unwrap_or_default());
    lost.sort_unstable();
    lost.dedup();
    Ok(lost)
}

/// The node beside the recorded profiles.
struct Seen {
    /// Uuids of NetworkManager's profiles.
    there: Vec<String>,
    /// Uuids of those that are activated.
    up: Vec<String>,
    /// Links with a default route.
    routes: Vec<String>,
    links: Vec<Link>,
}

impl Seen {
    fn lost(&self, profiles: &[Active], cards: &[LinkRef]) -> Vec<String> {
        let physical = || self.links.iter().filter(|link| link.physical);
        let is_recorded = |link: &Link| cards.iter().any(|card| link.is(card));
        // A card that was replaced is another one of the same name.
        let is_replaced = !physical().any(is_recorded);
        let connected: Vec<&str> = physical()
            .filter(|link| link.has_carrier && (is_replaced || is_recorded(link)))
            .map(|link| link.name.as_str())
            .collect();
        let has_profile = |name: &str| profiles.iter().any(|profile| profile.device == name);
        let is_away = !physical().any(|link| is_recorded(link) && has_profile(&link.name));
        let is_missing = |profile: &Active| {
            profile.is_of_card() && !self.links.iter().any(|link| link.name == profile.device)
        };
        let is_lost = |profile: &&Active| {
            let carries = self.routes.contains(&profile.device)
                || connected.contains(&profile.device.as_str());
            !self.there.contains(&profile.uuid)
                || (carries && !self.up.contains(&profile.uuid))
                || (is_away && is_missing(profile))
        };
        let mut devices: Vec<String> =
            profiles.iter().filter(is_lost).map(|profile| profile.device.clone()).collect();
        devices.sort_unstable();
        devices.dedup();
        devices
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Dynamic, Mac};

    #[test]
    fn an_interface_that_waited_for_its_address_is_asked_again() {
        let of = |kind: &str, device: &str| Active { kind: kind.to_owned(), ..active(device) };
        let profile = |kind: &str| Active { uuid: kind.to_owned(), ..of(kind, "br-ex") };
        let kinds = ["ovs-interface", "ovs-port", "ovs-bridge"].map(profile);
        let others = [of("802-3-ethernet", "eno1"), of("802-3-ethernet", "eno2")];
        let mut before =
            Before { active: kinds.into_iter().chain(others).collect(), ..Before::default() };
        let dynamic =
            |link: &str| Dynamic { link: link.to_owned(), v4: true, ..Dynamic::default() };
        let wants = Wants { dynamic: ["br-ex", "eno2"].map(dynamic).to_vec(), ..Wants::default() };
        before.activated = vec!["of eno2".to_owned()];
        let found = unanswered(&before, &wants);
        assert_eq!(
            found.iter().map(|active| active.uuid.as_str()).collect::<Vec<_>>(),
            ["ovs-interface"]
        );
        before.activated.push("ovs-interface".to_owned());
        assert!(unanswered(&before, &wants).is_empty());
    }

    fn active(device: &str) -> Active {
        Active { uuid: format!("of {device}"), device: device.to_owned(), kind: "any".to_owned() }
    }

    fn card(name: &str, has_carrier: bool) -> Link {
        Link { name: name.to_owned(), physical: true, has_carrier, ..Link::default() }
    }

    /// br-ex on a bond of two cards, and a card of another network.
    #[test]
    fn a_card_below_the_route_whose_profile_is_down_is_lost_unless_its_cable_is_out() {
        let uuids = |names: &[&str]| names.iter().map(|name| format!("of {name}")).collect();
        let profiles = ["br-ex", "eno1", "eno2", "eno3"].map(active);
        let named = [LinkRef::Name("eno1".to_owned()), LinkRef::Name("eno2".to_owned())];
        let gone = Mac::parse("52:54:00:00:00:09").map(LinkRef::Mac);
        let gone: Vec<LinkRef> = gone.into_iter().collect();
        let all = ["br-ex", "eno1", "eno2", "eno3"];
        for (there, up, out, cards, lost) in [
            (&all[..], &all[..], None, &named[..], &[][..]),
            (&all[1..], &all[1..], None, &named, &["br-ex"]),
            (&all, &all[1..], None, &named, &["br-ex"]),
            (&all, &["br-ex", "eno2", "eno3"], None, &named, &["eno1"]),
            (&all, &["br-ex", "eno2", "eno3"], Some("eno1"), &named, &[]),
            // Another network's card decides nothing.
            (&all, &["br-ex", "eno1", "eno2"], None, &named, &[]),
            // Both recorded cards were replaced.
            (&all, &["br-ex", "eno2", "eno3"], None, &gone, &["eno1"]),
        ] {
            let links = ["eno1", "eno2", "eno3"].map(|name| card(name, out != Some(name)));
            let seen = Seen {
                there: uuids(there),
                up: uuids(up),
                routes: vec!["br-ex".to_owned()],
                links: links.to_vec(),
            };
            assert_eq!(seen.lost(&profiles, cards), lost, "{up:?} {out:?}");
        }
    }
    /// With the kernel's datapath br-ex is up, with its address and its route, whatever is below it.
    #[test]
    fn a_card_that_is_not_there_by_its_name_is_lost_unless_another_recorded_one_is() {
        let of = |name: &str, kind: &str| Active { kind: kind.to_owned(), ..active(name) };
        let profiles = [
            of("br-ex", "ovs-interface"),
            of("eno1", "ovs-port"),
            of("eno1", "802-3-ethernet"),
            of("eno2", "802-3-ethernet"),
        ];
        let macs = ["52:54:00:00:00:01", "52:54:00:00:00:02"].map(Mac::parse);
        let [first, second] = macs.clone();
        let cards: Vec<LinkRef> = macs.into_iter().flatten().map(LinkRef::Mac).collect();
        let link = |name: &str, mac: &Option<Mac>| Link { mac: mac.clone(), ..card(name, true) };
        for (links, lost) in [
            (vec![link("enp9s0", &first)], &["eno1", "eno2"][..]),
            (Vec::new(), &["eno1", "eno2"]),
            (vec![link("enp9s0", &first), link("eno2", &second)], &[]),
            (vec![link("eno1", &first), link("eno2", &second)], &[]),
        ] {
            let names = format!("{links:?}");
            let there: Vec<String> = profiles.iter().map(|profile| profile.uuid.clone()).collect();
            let seen = Seen { up: there.clone(), there, routes: vec!["br-ex".to_owned()], links };
            assert_eq!(seen.lost(&profiles, &cards), lost, "{names}");
        }
    }
}

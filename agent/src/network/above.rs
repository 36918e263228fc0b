//! Profiles of other links on the links of a change: VLANs, VXLANs, MACVLANs.

use std::collections::BTreeSet;

use nmgen::chain;
use tokio::time::timeout;

use super::{Result, clients::Clients};
use crate::{
    model::{Active, Before, Profile, Wants},
    settings::OTHER_PROFILES,
    warn::OrWarn as _,
};

/// Activates profiles again that were up before the change and are down: NetworkManager 1.42 leaves a VLAN down when its bond
/// becomes a port, and any version one without autoconnect. They are no part of the change: a refusal is told.
pub(super) async fn activate(net: &Clients<'_>, before: &Before, wants: &Wants) {
    match timeout(OTHER_PROFILES, activate_lost(net, before, wants)).await {
        Ok(done) => _ = done.or_warn_of("links of other profiles may be down"),
        Err(_late) => {
            tracing::warn!("links of other profiles may be down: NetworkManager does not answer");
        }
    }
}

async fn activate_lost(net: &Clients<'_>, before: &Before, wants: &Wants) -> Result {
    let others = others_that_were_up(before, wants);
    if others.is_empty() {
        return Ok(());
    }
    let now = net.bus.active().await?;
    let down: Vec<&Active> =
        others.into_iter().filter(|other| !is_on(&now, &other.device)).collect();
    if down.is_empty() {
        return Ok(());
    }
    let profiles = net.bus.connections().await?;
    for other in (Links { before, now: &now, profiles: &profiles }).above(&down, wants) {
        tracing::warn!(
            profile = %other.uuid,
            "{} is down since the change of the link below it; activating it again",
            other.device
        );
        if let Err(error) = net.bus.activate(other).await {
            tracing::warn!(device = %other.device, "{}", chain(&error));
        }
    }
    Ok(())
}

fn is_on(active: &[Active], device: &str) -> bool {
    active.iter().any(|active| active.device == device)
}

/// The links of the change, whether the document declares them or names them as ports.
fn links_of(wants: &Wants) -> impl Iterator<Item = &String> {
    let ports = wants.bridge_ports.iter().chain(wants.below.iter().map(|(_, lower)| lower));
    wants.links.iter().chain(ports)
}

/// Profiles that were up on links outside of the change. One whose address the document gives to another link is replaced by it.
fn others_that_were_up<'b>(before: &'b Before, wants: &Wants) -> Vec<&'b Active> {
    let is_moved = |active: &Active| {
        let is_wanted = |ip| wants.addresses.iter().any(|wanted| wanted.ip == ip);
        before.addresses.iter().any(|on| on.link == active.device && is_wanted(on.ip))
    };
    let is_other = |active: &&Active| {
        before.activated.contains(&active.uuid)
            && !links_of(wants).any(|link| *link == active.device)
            && !is_moved(active)
    };
    before.active.iter().filter(is_other).collect()
}

/// NetworkManager's links before and after the change.
struct Links<'l> {
    before: &'l Before,
    now: &'l [Active],
    profiles: &'l [Profile],
}

impl Links<'_> {
    /// Profiles of `down` on a link of the change that is up, or on one another, lower ones first.
    fn above<'b>(&self, down: &[&'b Active], wants: &Wants) -> Vec<&'b Active> {
        let mut left: Vec<(&Active, String)> =
            down.iter().filter_map(|active| Some((*active, self.parent(active)?))).collect();
        let up = links_of(wants).filter(|link| is_on(self.now, link));
        let mut below: BTreeSet<String> = up.cloned().collect();
        let mut found = Vec::new();
        while let Some(next) = left.iter().position(|(_, parent)| below.contains(parent)) {
            let (other, _) = left.remove(next);
            below.insert(other.device.clone());
            found.push(other);
        }
        found
    }

    /// The link below; none for a port whose controller is down, which an activation would bring up.
    fn parent(&self, of: &Active) -> Option<String> {
        let profile = self.profiles.iter().find(|profile| profile.uuid() == of.uuid)?;
        let is_up =
            |name: &str| self.now.iter().any(|active| active.device == name || active.uuid == name);
        if !profile.controller().is_none_or(is_up) {
            return None;
        }
        let parent = profile.parent()?;
        // NetworkManager takes a profile's uuid for the name of its link.
        let by_uuid = self.before.active.iter().find(|active| active.uuid == parent);
        Some(by_uuid.map_or(parent, |active| &active.device).to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{OnLink, connection::ConnectionSettings};

    fn active(uuid: &str, device: &str) -> Active {
        Active { uuid: uuid.to_owned(), device: device.to_owned(), kind: "vlan".to_owned() }
    }

    fn profile(uuid: &str, kind: &str, parent: &str, controller: &str) -> Profile {
        let mut settings = ConnectionSettings::default();
        settings.set("connection", "uuid", uuid);
        settings.set("connection", "type", kind);
        settings.set("connection", "controller", controller);
        settings.set(kind, "parent", parent);
        Profile { settings, ..Profile::default() }
    }

    fn on(link: &str, last: u8) -> OnLink {
        let ip = std::net::Ipv4Addr::new(192, 0, 2, last).into();
        OnLink { link: link.to_owned(), ip, prefix: 24 }
    }

    /// VLANs on a bond that becomes a port without being declared: one whose profile names the bond's uuid, one in that, a port of
    /// a bridge that is up and one of a bridge that is down, one whose address br-ex gets, and one whose profile is gone. Beside
    /// them a card, and a VLAN on a bond that the document sets down.
    #[test]
    fn links_above_the_changes_are_found_from_below() {
        let all = [
            active("u1", "bond0.5.6"),
            active("u2", "bond0.5"),
            active("u3", "bond0.7"),
            active("u4", "bond0.8"),
            active("u5", "bond0.9"),
            active("u6", "bond0.10"),
            active("u7", "eno8"),
            active("u8", "bond1.5"),
            active("u0", "bond0"),
        ];
        let profiles = [
            profile("u1", "vlan", "bond0.5", ""),
            profile("u2", "vlan", "u0", ""),
            profile("u3", "vlan", "bond0", "br7"),
            profile("u4", "vlan", "bond0", "br8"),
            profile("u5", "vlan", "bond0", ""),
            profile("u7", "802-3-ethernet", "", ""),
            profile("u8", "vlan", "bond1", ""),
        ];
        let before = Before {
            active: all.to_vec(),
            activated: all.iter().map(|active| active.uuid.clone()).collect(),
            addresses: vec![on("bond0.9", 10), on("bond0.5", 11)],
            ..Before::default()
        };
        let wants = Wants {
            links: vec!["bond1".to_owned(), "br-ex".to_owned()],
            bridge_ports: vec!["bond0".to_owned()],
            addresses: vec![on("br-ex", 10)],
            ..Wants::default()
        };
        let others = others_that_were_up(&before, &wants);
        let devices: Vec<&str> = others.iter().map(|other| other.device.as_str()).collect();
        let expected =
            ["bond0.5.6", "bond0.5", "bond0.7", "bond0.8", "bond0.10", "eno8", "bond1.5"];
        assert_eq!(devices, expected);
        let now = [active("n0", "bond0"), active("n1", "br-ex"), active("n2", "br7")];
        let links = Links { before: &before, now: &now, profiles: &profiles };
        assert_eq!(links.above(&others, &wants), [&all[1], &all[0], &all[2]]);
        let failed = Before { activated: Vec::new(), ..before.clone() };
        assert_eq!(others_that_were_up(&failed, &wants), Vec::<&Active>::new());
    }
}

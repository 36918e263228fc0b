//! Interfaces of Open vSwitch whose activation NetworkManager has forgotten.

use super::{
    active::{ACTIVATED, ACTIVATING, ACTIVE_CONNECTIONS, ActiveConnection},
    bus::{Bus, Result, call, unless_gone},
    settings::from_wire,
};
use crate::model::{Active, Address, Family, Link, Profile};

/// `NM_DEVICE_STATE_PREPARE`.
const PREPARE: u32 = 40;
/// `NM_DEVICE_STATE_IP_CONFIG`.
const IP_CONFIG: u32 = 70;

/// An activation, by its object: the next one of the same profile has another. `None`: there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    activation: Option<String>,
    pub(crate) active: Active,
}

impl Bus {
    /// Returns interfaces of Open vSwitch that are not up although their port is activated: those in "prepare", where they wait
    /// only for the port; those in "ip-config" whose link NetworkManager has not begun to set up; and those of `expected` that
    /// connect by themselves and have no activation.
    pub(crate) async fn waiting_for_ports_that_are_up(
        &self,
        expected: &[Active],
        links: &[Link],
        addresses: &[Address],
    ) -> Result<Vec<Waiting>> {
        let query = call(ACTIVE_CONNECTIONS);
        let all = self.active_connections().await?;
        let mut waiting = Vec::new();
        for activation in
            all.iter().filter(|one| one.kind == "ovs-interface" && one.state == ACTIVATING)
        {
            for device in &activation.devices {
                let device = self.device_proxy(device.as_str()).await?;
                let answers = tokio::try_join!(device.state(), device.interface());
                let Some((state, name)) = unless_gone(answers.map_err(query))? else { continue };
                if state != PREPARE && state != IP_CONFIG {
                    continue;
                }
                let Some(profile) = self.profile(&activation.uuid).await? else { continue };
                if state == IP_CONFIG && has_begun(&profile, &name, links, addresses) {
                    continue;
                }
                if self.has_activated_port(&profile, &all).await? {
                    let (uuid, kind) = (activation.uuid.clone(), activation.kind.clone());
                    let active = Active { uuid, device: name, kind };
                    waiting.push(Waiting { activation: Some(activation.path.to_string()), active });
                }
            }
        }
        waiting.extend(self.without_activation(expected, &all).await?);
        Ok(waiting)
    }

    async fn without_activation(
        &self,
        expected: &[Active],
        all: &[ActiveConnection],
    ) -> Result<Vec<Waiting>> {
        let is_down = |active: &&Active| {
            active.kind == "ovs-interface" && all.iter().all(|seen| seen.uuid != active.uuid)
        };
        let mut waiting = Vec::new();
        let down: Vec<&Active> = expected.iter().filter(is_down).collect();
        if down.is_empty() {
            return Ok(waiting);
        }
        // One of them may be deleted.
        let profiles = self.connections().await?;
        for active in down {
            let profile = profiles.iter().find(|profile| profile.uuid() == active.uuid);
            if let Some(profile) = profile.filter(|profile| profile.connects_by_itself())
                && self.has_activated_port(profile, all).await?
            {
                waiting.push(Waiting { activation: None, active: active.clone() });
            }
        }
        Ok(waiting)
    }

    async fn profile(&self, uuid: &str) -> Result<Option<Profile>> {
        let query = call("a profile");
        let path = self.settings.get_connection_by_uuid(uuid).await.map_err(query)?;
        let settings = self.profile_proxy(path.as_str()).await?.get_settings().await;
        let settings = unless_gone(settings.map_err(query))?;
        Ok(settings.map(|setting| Profile { settings: from_wire(&setting), ..Profile::default() }))
    }

    /// Whether the controller of this profile, an uuid or a name of an interface, is a port that is activated.
    async fn has_activated_port(
        &self,
        profile: &Profile,
        all: &[ActiveConnection],
    ) -> Result<bool> {
        let Some(controller) = profile.controller() else { return Ok(false) };
        for port in all.iter().filter(|port| port.kind == "ovs-port" && port.state == ACTIVATED) {
            if port.uuid == controller {
                return Ok(true);
            }
            for device in &port.devices {
                let name = self.device_proxy(device.as_str()).await?.interface().await;
                if unless_gone(name.map_err(call("a port")))?.is_some_and(|name| name == controller)
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

/// Returns whether NetworkManager has begun with this link, or cannot, since Open vSwitch has not made it yet: it is up, and has an
/// address of each family whose addresses the profile names. NetworkManager sets the link up first, and adds those addresses before
/// it waits for any other.
fn has_begun(profile: &Profile, name: &str, links: &[Link], addresses: &[Address]) -> bool {
    let Some(link) = links.iter().find(|link| link.name == name) else { return true };
    let has_address = |family: Family| {
        let mut of_link = addresses.iter().filter(|a| a.on.link == name && a.is_global());
        of_link.any(|address| Family::of(address.on.ip) == family)
    };
    let is_static =
        |family: &Family| profile.settings.text(family.section(), "method") == Some("manual");
    link.is_set_up && Family::ALL.into_iter().filter(is_static).all(has_address)
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::model::{OnLink, Scope};

    fn address(link: &str, ip: IpAddr, scope: Scope) -> Address {
        let on = OnLink { link: link.to_owned(), ip, prefix: 64 };
        Address { on, tentative: false, duplicate: false, dynamic: false, scope }
    }

    #[test]
    fn link_without_the_addresses_of_its_profile_is_untouched() {
        let profile = |ipv4: &str, ipv6: &str| {
            let mut profile = Profile::default();
            profile.settings.set("ipv4", "method", ipv4);
            profile.settings.set("ipv6", "method", ipv6);
            profile
        };
        let link = |is_set_up| Link { name: "br-ex".into(), is_set_up, ..Link::default() };
        let ipv4 = IpAddr::from([192, 0, 2, 10]);
        let [ipv6, local] = [0x2001, 0xfe80].map(|net| IpAddr::from([net, 0, 0, 0, 0, 0, 0, 1]));
        for (methods, is_set_up, of, ips, begun) in [
            (("manual", "disabled"), true, "br-ex", &[ipv4][..], true),
            (("manual", "disabled"), false, "br-ex", &[ipv4], false),
            (("manual", "disabled"), true, "br-ex", &[], false),
            (("manual", "disabled"), true, "eno1", &[ipv4], false),
            (("manual", "manual"), true, "br-ex", &[ipv4], false),
            (("manual", "manual"), true, "br-ex", &[ipv4, ipv6], true),
            // A DHCP server may take its time.
            (("auto", "auto"), true, "br-ex", &[], true),
            (("auto", "disabled"), false, "br-ex", &[], false),
        ] {
            let addresses: Vec<_> = ips.iter().map(|ip| address(of, *ip, Scope::Global)).collect();
            let profile = profile(methods.0, methods.1);
            let found = has_begun(&profile, "br-ex", &[link(is_set_up)], &addresses);
            assert_eq!(found, begun, "{methods:?} {is_set_up} {of} {ips:?}");
        }
        assert!(has_begun(&profile("manual", "manual"), "br-ex", &[], &[]), "not made yet");
        let local = address("br-ex", local, Scope::Link);
        assert!(!has_begun(&profile("disabled", "manual"), "br-ex", &[link(true)], &[local]));
    }
}

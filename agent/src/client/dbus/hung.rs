//! Interfaces of Open vSwitch whose activation NetworkManager has forgotten.

use super::{
    active::{ACTIVATED, ACTIVATING, ACTIVE_CONNECTIONS, ActiveConnection},
    bus::{Bus, Result, call, unless_gone},
    settings::from_wire,
};
use crate::model::{Active, Profile};

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
    /// Returns interfaces of Open vSwitch that are not up although their port is activated: those in "prepare", where they wait for
    /// the port alone; those in "ip-config" whose link is among `down`, since NetworkManager sets it up first; and those of
    /// `expected` that connect by themselves and have no activation.
    pub(crate) async fn waiting_for_ports_that_are_up(
        &self,
        expected: &[Active],
        down: &[String],
    ) -> Result<Vec<Waiting>> {
        let query = call(ACTIVE_CONNECTIONS);
        let all = self.active_connections().await?;
        let mut waiting = Vec::new();
        for it in all.iter().filter(|one| one.kind == "ovs-interface" && one.state == ACTIVATING) {
            for device in &it.devices {
                let device = self.device_proxy(device.as_str()).await?;
                let answers = tokio::try_join!(device.state(), device.interface());
                let Some((state, name)) = unless_gone(answers.map_err(query))? else { continue };
                if state != PREPARE && (state != IP_CONFIG || !down.contains(&name)) {
                    continue;
                }
                let Some(profile) = self.profile(&it.uuid).await? else { continue };
                if self.has_activated_port(&profile, &all).await? {
                    let (uuid, kind) = (it.uuid.clone(), it.kind.clone());
                    let active = Active { uuid, device: name, kind };
                    waiting.push(Waiting { activation: Some(it.path.to_string()), active });
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

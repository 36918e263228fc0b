//! Interfaces of Open vSwitch whose activation NetworkManager has forgotten.

use super::{
    active::{ACTIVATED, ACTIVE_CONNECTIONS, ActiveConnection},
    bus::{Bus, BusError, call, unless_gone},
    settings::from_wire,
};
use crate::model::{Active, Profile};

/// `NM_ACTIVE_CONNECTION_STATE_ACTIVATING`.
const ACTIVATING: u32 = 1;
/// `NM_DEVICE_STATE_PREPARE`.
const PREPARE: u32 = 40;

/// An activation, by its object: the next one of the same profile has another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Waiting {
    path: String,
    pub(crate) active: Active,
}

impl Bus {
    /// Interfaces of Open vSwitch in "prepare", where they wait for their ports alone, although the port is activated.
    pub(crate) async fn waiting_for_ports_that_are_up(&self) -> Result<Vec<Waiting>, BusError> {
        let query = || call(ACTIVE_CONNECTIONS);
        let all = self.active_connections().await?;
        let mut waiting = Vec::new();
        for it in all.iter().filter(|it| it.kind == "ovs-interface" && it.state == ACTIVATING) {
            for device in &it.devices {
                let device = self.device_proxy(device.as_str()).await?;
                let answers = tokio::try_join!(device.state(), device.interface());
                let Some((PREPARE, name)) = unless_gone(answers.map_err(query()))? else {
                    continue;
                };
                if self.has_activated_port(&it.uuid, &all).await? {
                    let (uuid, kind) = (it.uuid.clone(), it.kind.clone());
                    let active = Active { uuid, device: name, kind };
                    waiting.push(Waiting { path: it.path.to_string(), active });
                }
            }
        }
        Ok(waiting)
    }

    /// Whether the controller of this profile, an uuid or a name of an interface, is a port that is activated.
    async fn has_activated_port(
        &self,
        uuid: &str,
        all: &[ActiveConnection],
    ) -> Result<bool, BusError> {
        let query = || call("a profile");
        let path = self.settings.get_connection_by_uuid(uuid).await.map_err(query())?;
        let settings = self.profile_proxy(path.as_str()).await?.get_settings().await;
        let Some(settings) = unless_gone(settings.map_err(query()))? else { return Ok(false) };
        let profile = Profile { path: path.to_string(), settings: from_wire(&settings) };
        let Some(controller) = profile.controller() else { return Ok(false) };
        for port in all.iter().filter(|it| it.kind == "ovs-port" && it.state == ACTIVATED) {
            if port.uuid == controller {
                return Ok(true);
            }
            for device in &port.devices {
                let name = self.device_proxy(device.as_str()).await?.interface().await;
                if unless_gone(name.map_err(query()))?.is_some_and(|name| name == controller) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}

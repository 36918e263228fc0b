//! Profiles and their devices: which are active, activation, reapplying.

use std::collections::HashMap;

use futures_util::StreamExt as _;
use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::{
    active::ACTIVATED,
    bus::{Bus, BusError, Result, call, path_of, proxy, unless_gone},
    proxies::ActiveConnectionProxy,
};
use crate::model::{Active, Family};

/// `NM_ACTIVE_CONNECTION_STATE_DEACTIVATING` and `…_DEACTIVATED`.
const DOWN: [u32; 2] = [3, 4];

/// `NMActiveConnectionStateReason` in words.
fn reason(number: u32) -> &'static str {
    match number {
        2 => "the user disconnected it",
        3 => "its device went down",
        4 | 8 => "a service stopped",
        5 => "its IP configuration is not valid",
        6 | 7 => "it took too long",
        9 | 10 => "secrets are missing or wrong",
        11 => "the profile was deleted",
        12 => "a profile below or above it failed",
        13 => "its device could not be made",
        14 => "its device was removed",
        _ => "NetworkManager gives no reason",
    }
}

impl Bus {
    /// Reapplies the profile of the device; succeeds without a device.
    pub(crate) async fn reapply(&self, active: &Active) -> Result {
        let Some(device) = self.device(&active.device).await? else { return Ok(()) };
        // No settings and version 0: apply the profile's settings, independent of the device's
        // current ones.
        let reapplied = self.device_proxy(&device).await?.reapply(HashMap::new(), 0, 0).await;
        reapplied.map_err(call("to reapply a profile"))
    }

    /// Gives the default routes of a family this metric on the device alone: no saved profile changes. Succeeds without a device.
    pub(crate) async fn set_metric(&self, device: &str, family: Family, metric: u32) -> Result {
        let Some(device) = self.device(device).await? else { return Ok(()) };
        let device = self.device_proxy(&device).await?;
        let applied = device.get_applied_connection(0).await;
        let (mut settings, version) = applied.map_err(call("an applied profile"))?;
        let metric = OwnedValue::from(i64::from(metric));
        settings
            .entry(family.section().to_owned())
            .or_default()
            .insert("route-metric".to_owned(), metric);
        let reapplied = device.reapply(settings, version, 0).await;
        reapplied.map_err(call("to reapply a profile"))
    }

    /// Activates a profile again; NetworkManager finds the device.
    pub(crate) async fn activate(&self, active: &Active) -> Result {
        self.begin(active).await.map(|_| ())
    }

    /// Activates a profile, and returns when it is active; an error if NetworkManager gives up.
    pub(crate) async fn bring_up(&self, active: &Active) -> Result {
        let refused = call("an activation");
        let path = self.begin(active).await?;
        let proxy: ActiveConnectionProxy<'_> =
            proxy(&self.connection, Some(&path)).await.map_err(refused)?;
        let mut transitions = proxy.receive_transition().await.map_err(refused)?;
        let down = |reason| BusError::NotActive { profile: active.uuid.clone(), reason };
        // The state may have changed before the subscription; a profile that failed has no object.
        match unless_gone(proxy.state().await.map_err(refused))? {
            Some(ACTIVATED) => return Ok(()),
            Some(state) if !DOWN.contains(&state) => {}
            Some(_) | None => return Err(down(reason(0))),
        }
        while let Some(transition) = transitions.next().await {
            let now = transition.args().map_err(refused)?;
            if now.state == ACTIVATED {
                return Ok(());
            }
            if DOWN.contains(&now.state) {
                return Err(down(reason(now.reason)));
            }
        }
        Err(BusError::Closed)
    }

    async fn begin(&self, active: &Active) -> Result<OwnedObjectPath> {
        let refused = call("an activation");
        let connection =
            self.settings.get_connection_by_uuid(&active.uuid).await.map_err(refused)?;
        let none = path_of("/").map_err(refused)?;
        // OVS bridges and ports share their name with an interface, and virtual devices may not
        // exist yet: only a NIC needs an explicit device.
        let device =
            if active.kind == "802-3-ethernet" { self.device(&active.device).await? } else { None };
        let device = match &device {
            Some(path) => path_of(path).map_err(refused)?,
            None => none.clone(),
        };
        self.manager
            .activate_connection(&connection.as_ref(), &device, &none)
            .await
            .map_err(refused)
    }
}

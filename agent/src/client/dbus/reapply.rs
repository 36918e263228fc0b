//! Reapplying the current profile to a device.

use std::collections::HashMap;

use super::{
    Active,
    bus::{Bus, BusError, call},
};

impl Bus {
    /// Reapplies the profile of the device; succeeds without a device.
    pub(crate) async fn reapply(&self, active: &Active) -> Result<(), BusError> {
        let Some(device) = self.device(&active.device).await? else { return Ok(()) };
        // No settings and version 0: apply the profile's settings, independent of the device's
        // current ones.
        let reapplied = self.device_proxy(&device).await?.reapply(HashMap::new(), 0, 0).await;
        reapplied.map_err(call("to reapply a profile"))
    }
}

//! Devices that take up their profile as it is by now.

use std::collections::HashMap;

use super::{Active, Bus, BusError, call};

impl Bus {
    /// Reapplies the profile of the device; fine where there is no device.
    pub(crate) async fn reapply(&self, active: &Active) -> Result<(), BusError> {
        let Some(device) = self.device(&active.device).await? else { return Ok(()) };
        // No settings and no version: those of the profile, whatever the device has now.
        let reapplied = self.device_proxy(&device).await?.reapply(HashMap::new(), 0, 0).await;
        reapplied.map_err(call("to reapply a profile"))
    }
}

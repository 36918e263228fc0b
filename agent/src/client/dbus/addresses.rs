//! Addresses that NetworkManager gives to an interface.

use std::{collections::HashMap, net::IpAddr};

use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::{
    active::take,
    bus::{Bus, Result, call, unless_gone},
};

/// The path of what is not there.
const NONE: &str = "/";
/// The interface of a lease, and its option with the address.
const DHCP4: (&str, &str) = ("org.freedesktop.NetworkManager.DHCP4Config", "ip_address");
const DHCP6: (&str, &str) = ("org.freedesktop.NetworkManager.DHCP6Config", "ip6_address");

impl Bus {
    /// Addresses of this interface from its applied profile or a lease. The kernel shows that of an endless lease like one that
    /// somebody has set.
    pub(crate) async fn own_addresses(&self, name: &str) -> Result<Vec<IpAddr>> {
        let Some(path) = self.device(name).await? else { return Ok(Vec::new()) };
        let device = self.device_proxy(&path).await?;
        let applied = match device.get_applied_connection(0).await {
            // A device without an active profile: it has no addresses from one.
            Err(zbus::Error::MethodError(error, ..)) if error.ends_with(".NotActive") => None,
            applied => unless_gone(applied.map_err(call("an applied profile")))?,
        };
        let Some((settings, _)) = applied else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for family in ["ipv4", "ipv6"] {
            let data = settings.get(family).and_then(|s| s.get("address-data"));
            let data = data
                .and_then(|v| v.try_clone().ok())
                .and_then(|v| Vec::<HashMap<String, OwnedValue>>::try_from(v).ok());
            found.extend(data.into_iter().flatten().filter_map(|entry| address(&entry, "address")));
        }
        let paths = tokio::try_join!(device.dhcp4_config(), device.dhcp6_config());
        let Some((v4, v6)) = unless_gone(paths.map_err(call("a lease")))? else {
            return Ok(found);
        };
        for (path, (interface, key)) in [(v4, DHCP4), (v6, DHCP6)] {
            let lease = self.lease(&path, interface).await?;
            found.extend(lease.and_then(|lease| address(&lease, key)));
        }
        Ok(found)
    }

    /// The options of a lease; none without one.
    async fn lease(
        &self,
        path: &OwnedObjectPath,
        interface: &'static str,
    ) -> Result<Option<HashMap<String, OwnedValue>>> {
        if path.as_str() == NONE {
            return Ok(None);
        }
        let read = call("a lease");
        let answer = self.properties(path, interface).await;
        let Some(mut properties) = unless_gone(answer.map_err(&read))? else { return Ok(None) };
        take(&mut properties, "Options").map(Some).map_err(&read)
    }
}

fn address(entry: &HashMap<String, OwnedValue>, key: &str) -> Option<IpAddr> {
    String::try_from(entry.get(key)?.try_clone().ok()?).ok()?.parse().ok()
}

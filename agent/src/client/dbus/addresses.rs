//! Addresses that NetworkManager gives to an interface.

use std::{collections::HashMap, net::IpAddr};

use zbus::zvariant::{OwnedObjectPath, OwnedValue};

use super::{
    bus::{Bus, BusError, call, unless_gone},
    proxies::{Dhcp4ConfigProxy, Dhcp6ConfigProxy},
};

/// The path of what is not there.
const NONE: &str = "/";

impl Bus {
    /// Addresses of this interface from its applied profile or a lease. The kernel shows that of an endless lease like one that
    /// somebody has set.
    pub(crate) async fn own_addresses(&self, name: &str) -> Result<Vec<IpAddr>, BusError> {
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
        let lease = || call("a lease");
        let paths = tokio::try_join!(device.dhcp4_config(), device.dhcp6_config());
        let Some((v4, v6)) = unless_gone(paths.map_err(lease()))? else { return Ok(found) };
        let v4 = self.lease_v4(v4).await.map_err(lease());
        let v6 = self.lease_v6(v6).await.map_err(lease());
        let leases = [(unless_gone(v4)?, "ip_address"), (unless_gone(v6)?, "ip6_address")];
        let leased = |(lease, key): (Option<HashMap<String, OwnedValue>>, _)| address(&lease?, key);
        found.extend(leases.into_iter().filter_map(leased));
        Ok(found)
    }

    /// The options of a lease; none without one.
    async fn lease_v4(
        &self,
        path: OwnedObjectPath,
    ) -> Result<HashMap<String, OwnedValue>, zbus::Error> {
        if path.as_str() == NONE {
            return Ok(HashMap::new());
        }
        let proxy = Dhcp4ConfigProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .path(path)?;
        proxy.build().await?.options().await
    }

    /// [`Self::lease_v4`] of DHCPv6.
    async fn lease_v6(
        &self,
        path: OwnedObjectPath,
    ) -> Result<HashMap<String, OwnedValue>, zbus::Error> {
        if path.as_str() == NONE {
            return Ok(HashMap::new());
        }
        let proxy = Dhcp6ConfigProxy::builder(&self.connection)
            .cache_properties(zbus::proxy::CacheProperties::No)
            .path(path)?;
        proxy.build().await?.options().await
    }
}

fn address(entry: &HashMap<String, OwnedValue>, key: &str) -> Option<IpAddr> {
    String::try_from(entry.get(key)?.try_clone().ok()?).ok()?.parse().ok()
}

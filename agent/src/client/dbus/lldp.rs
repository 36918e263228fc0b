//! The other ends of the cables, which NetworkManager hears on interfaces with `lldp: {enabled: true}`.

use std::collections::HashMap;

use zbus::zvariant::{OwnedValue, Value};

use super::bus::{Bus, Result, call, unless_gone};
use crate::model::LldpNeighbour;

/// VLANs of a neighbour that are kept; a trunk may have all 4094.
const VLANS: usize = 4094;

impl Bus {
    /// Every neighbour, by interface.
    pub(crate) async fn lldp_neighbours(&self) -> Result<Vec<LldpNeighbour>> {
        let query = call("the neighbours by LLDP");
        let mut found = Vec::new();
        for path in self.manager.get_all_devices().await.map_err(query)? {
            let proxy = self.device_proxy(path.as_str()).await?;
            let answers = tokio::try_join!(proxy.interface(), proxy.lldp_neighbors());
            if let Some((link, heard)) = unless_gone(answers.map_err(query))? {
                found.extend(heard.iter().map(|map| neighbour(&link, map)));
            }
        }
        Ok(found)
    }
}

fn neighbour(link: &str, told: &HashMap<String, OwnedValue>) -> LldpNeighbour {
    let text = |key: &str| {
        told.get(key).and_then(|value| value.downcast_ref::<&str>().ok()).map(str::to_owned)
    };
    let number = |key: &str| told.get(key).and_then(|value| value.downcast_ref::<u32>().ok());
    LldpNeighbour {
        link: link.to_owned(),
        system: text("system-name").or_else(|| text("chassis-id")),
        port: text("port-id"),
        frame: number("ieee-802-3-max-frame-size"),
        vlans: told.get("ieee-802-1-vlans").map(|value| vlans(value)).unwrap_or_default(),
    }
}

/// The numbers of an array of dictionaries with `vid` and `name`.
fn vlans(value: &Value<'_>) -> Vec<u32> {
    let Value::Array(all) = value else { return Vec::new() };
    let id = |one: &Value<'_>| {
        let Value::Dict(one) = one else { return None };
        one.get::<&str, Value<'_>>(&"vid").ok()??.downcast_ref::<u32>().ok()
    };
    all.iter().filter_map(id).take(VLANS).collect()
}

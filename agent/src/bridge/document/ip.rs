//! The IP settings of the local interface in the document.

use serde_json::{Value, json};

use super::empty::some;
use crate::model::connection::{self, ConnectionSettings};

/// `ipv4`; `None` for methods that NMState does not have.
pub(crate) fn ipv4(settings: &ConnectionSettings) -> Option<Value> {
    let text = |property| settings.text("ipv4", property);
    let address = addresses(settings, "ipv4");
    Some(match text("method")? {
        "auto" => {
            // In NMState's words.
            let id = text("dhcp-client-id").map(|id| match id {
                "duid" => "iaid+duid",
                "mac" => "ll",
                id => id,
            });
            let ip =
                json!({"enabled": true, "dhcp": true, "address": address, "dhcp-client-id": id});
            automatic(ip, settings, "ipv4")
        }
        "manual" => json!({
            "enabled": true,
            "dhcp": false,
            "address": address,
            "prefix-route-metric": settings.number("ipv4", "route-metric"),
        }),
        "disabled" => json!({"enabled": false}),
        _ => return None,
    })
}

/// `ipv6`; `None` for methods that NMState does not have.
pub(crate) fn ipv6(settings: &ConnectionSettings) -> Option<Value> {
    let text = |property| settings.text("ipv6", property);
    let addr_gen_mode = match settings.number("ipv6", "addr-gen-mode") {
        Some(0) => Some("eui64"),
        Some(1) => Some("stable-privacy"),
        // The default of NetworkManager's configuration or version.
        _ => None,
    };
    let address = addresses(settings, "ipv6");
    Some(match text("method")? {
        method @ ("auto" | "dhcp") => {
            let ip = json!({
                "enabled": true,
                "dhcp": true,
                "autoconf": method == "auto",
                "address": address,
                "dhcp-duid": text("dhcp-duid"),
                "addr-gen-mode": addr_gen_mode,
                "token": text("token"),
            });
            automatic(ip, settings, "ipv6")
        }
        "manual" | "link-local" => json!({
            "enabled": true,
            "dhcp": false,
            "autoconf": false,
            "address": address,
            "addr-gen-mode": addr_gen_mode,
        }),
        "disabled" => json!({"enabled": false}),
        _ => return None,
    })
}

/// `wait-ip` of an interface whose activation needs one family or both.
pub(crate) fn wait_ip(ipv4: bool, ipv6: bool) -> Option<&'static str> {
    match (ipv4, ipv6) {
        (true, true) => Some("ipv4+ipv6"),
        (true, false) => Some("ipv4"),
        (false, true) => Some("ipv6"),
        (false, false) => None,
    }
}

/// Adds the settings of DHCP and router advertisements of either family.
fn automatic(mut ip: Value, settings: &ConnectionSettings, family: &str) -> Value {
    for (key, property) in [
        ("auto-dns", "ignore-auto-dns"),
        ("auto-routes", "ignore-auto-routes"),
        ("auto-gateway", "never-default"),
    ] {
        let is_off = settings.flag(family, property) == Some(true);
        ip[key] = is_off.then_some(false).into();
    }
    let table = settings.number(family, "route-table").filter(|table| *table != 0);
    ip["auto-route-table-id"] = table.into();
    ip["auto-route-metric"] = settings.number(family, "route-metric").into();
    ip
}

fn addresses(settings: &ConnectionSettings, family: &str) -> Option<Vec<Value>> {
    let address = |entry: &connection::Record| {
        let (ip, length) = (entry.get("address")?.text()?, entry.get("prefix")?.number()?);
        Some(json!({"ip": ip, "prefix-length": length}))
    };
    some(settings.records(family, "address-data").iter().filter_map(address).collect())
}

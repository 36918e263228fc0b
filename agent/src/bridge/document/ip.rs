//! The IP settings of the local interface in the document.

use serde::Serialize;

use crate::model::connection::{ConnectionSettings, Value};

/// `ipv4` or `ipv6` of an interface; by default it has no addresses.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Ip {
    pub(super) enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    dhcp: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    autoconf: Option<bool>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    address: Vec<IpAddress>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dhcp_client_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dhcp_duid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    addr_gen_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_dns: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_routes: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_gateway: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_route_table_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_route_metric: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix_route_metric: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct IpAddress {
    ip: String,
    prefix_length: i64,
}

/// `ipv4`; `None` for methods that NMState does not have.
pub(crate) fn ipv4(settings: &ConnectionSettings) -> Option<Ip> {
    let text = |property| settings.text("ipv4", property);
    match text("method")? {
        "auto" => Some(Ip {
            dhcp: Some(true),
            dhcp_client_id: text("dhcp-client-id").map(|id| in_nmstate(id, "mac").to_owned()),
            ..automatic(settings, "ipv4")
        }),
        "manual" => Some(Ip {
            enabled: true,
            dhcp: Some(false),
            address: addresses(settings, "ipv4"),
            prefix_route_metric: settings.number("ipv4", "route-metric"),
            ..Ip::default()
        }),
        "disabled" => Some(Ip::default()),
        _ => None,
    }
}

/// `ipv6`; `None` for methods that NMState does not have.
pub(crate) fn ipv6(settings: &ConnectionSettings) -> Option<Ip> {
    let text = |property| settings.text("ipv6", property);
    let addr_gen_mode = match settings.number("ipv6", "addr-gen-mode") {
        Some(0) => Some("eui64"),
        Some(1) => Some("stable-privacy"),
        // The default of NetworkManager's configuration or version.
        _ => None,
    };
    let with = |autoconf| Ip {
        dhcp: Some(true),
        autoconf: Some(autoconf),
        dhcp_duid: text("dhcp-duid").map(str::to_owned),
        token: text("token").map(str::to_owned),
        addr_gen_mode,
        ..automatic(settings, "ipv6")
    };
    let fixed = || Ip {
        enabled: true,
        dhcp: Some(false),
        autoconf: Some(false),
        address: addresses(settings, "ipv6"),
        addr_gen_mode,
        ..Ip::default()
    };
    match text("method")? {
        "auto" => Some(with(true)),
        "dhcp" => Some(with(false)),
        "manual" | "link-local" => Some(fixed()),
        "disabled" => Some(Ip::default()),
        _ => None,
    }
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

/// Settings of DHCP and router advertisements of either family, without the switches.
fn automatic(settings: &ConnectionSettings, family: &str) -> Ip {
    let off = |property| settings.flag(family, property).filter(|is_set| *is_set).map(|_| false);
    Ip {
        enabled: true,
        address: addresses(settings, family),
        auto_dns: off("ignore-auto-dns"),
        auto_routes: off("ignore-auto-routes"),
        auto_gateway: off("never-default"),
        auto_route_table_id: settings.number(family, "route-table").filter(|table| *table != 0),
        auto_route_metric: settings.number(family, "route-metric"),
        ..Ip::default()
    }
}

fn addresses(settings: &ConnectionSettings, family: &str) -> Vec<IpAddress> {
    let data = settings.get(family, "address-data").map(Value::records).unwrap_or_default();
    let address = |entry: &crate::model::connection::Record| {
        Some(IpAddress {
            ip: entry.get("address")?.text()?.to_owned(),
            prefix_length: entry.get("prefix")?.number()?,
        })
    };
    data.iter().filter_map(address).collect()
}

/// NMState's word for the link-layer address.
fn in_nmstate<'a>(id: &'a str, link_layer: &str) -> &'a str {
    match id {
        "duid" => "iaid+duid",
        id if id == link_layer => "ll",
        id => id,
    }
}

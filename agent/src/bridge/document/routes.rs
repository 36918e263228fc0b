//! Static routes, routing rules, and name servers of the local interface.

use serde::Serialize;

use super::BridgeDocument;
use crate::{
    bridge::names::BridgeNames,
    model::connection::{ConnectionSettings, Record, Value},
};

#[derive(Debug, Default, Serialize)]
pub(super) struct Routes {
    config: Vec<Route>,
}

impl Routes {
    pub(super) fn is_empty(&self) -> bool {
        self.config.is_empty()
    }
}

#[derive(Debug, Default, Serialize)]
pub(super) struct RouteRules {
    config: Vec<Rule>,
}

impl RouteRules {
    pub(super) fn is_empty(&self) -> bool {
        self.config.is_empty()
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Route {
    destination: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_hop_address: Option<String>,
    next_hop_interface: &'static str,
    metric: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    table_id: Option<i64>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Rule {
    family: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip_from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip_to: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    route_table: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fwmark: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fwmask: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iif: Option<String>,
}

/// Adds what the profile has of all of them.
pub(super) fn add(
    settings: &ConnectionSettings,
    names: BridgeNames,
    document: &mut BridgeDocument,
    comments: &mut Vec<String>,
) {
    for (family, any) in [("ipv4", "0.0.0.0/0"), ("ipv6", "::/0")] {
        if let Some(gateway) = settings.text(family, "gateway") {
            let route = |table_id| Route {
                destination: any.to_owned(),
                next_hop_address: Some(gateway.to_owned()),
                next_hop_interface: names.bridge,
                metric: i64::from(names.metric),
                table_id,
            };
            document.routes.config.push(route(table(settings, family)));
        }
        let entries =
            |property| settings.get(family, property).map(Value::records).unwrap_or_default();
        let routes =
            entries("route-data").iter().filter_map(|entry| route(entry, settings, family, names));
        document.routes.config.extend(routes);
        document
            .route_rules
            .config
            .extend(entries("routing-rules").iter().map(|entry| rule(entry, family)));
        comments.extend(name_servers(settings, family, names));
    }
}

fn table(settings: &ConnectionSettings, family: &str) -> Option<i64> {
    settings.number(family, "route-table").filter(|table| *table != 0)
}

fn route(
    entry: &Record,
    settings: &ConnectionSettings,
    family: &str,
    names: BridgeNames,
) -> Option<Route> {
    let text = |key: &str| Some(entry.get(key)?.text()?.to_owned());
    let number = |key: &str| entry.get(key)?.number();
    // Without a usual next hop it is a blackhole or the like, which NMState says otherwise.
    if text("type").is_some_and(|kind| kind != "unicast") {
        return None;
    }
    Some(Route {
        destination: format!("{}/{}", text("dest")?, number("prefix")?),
        next_hop_address: text("next-hop"),
        next_hop_interface: names.bridge,
        metric: number("metric").unwrap_or(i64::from(names.metric)),
        table_id: number("table").or_else(|| table(settings, family)),
    })
}

fn rule(entry: &Record, family: &'static str) -> Rule {
    let text = |key: &str| Some(entry.get(key)?.text()?.to_owned());
    let number = |key: &str| entry.get(key)?.number();
    let network = |key: &str, length: &str| {
        let full = if family == "ipv4" { 32 } else { 128 };
        Some(format!("{}/{}", text(key)?, number(length).unwrap_or(full)))
    };
    Rule {
        family,
        ip_from: network("from", "from-len"),
        ip_to: network("to", "to-len"),
        priority: number("priority"),
        route_table: number("table"),
        fwmark: number("fwmark"),
        fwmask: number("fwmask"),
        iif: text("iifname"),
    }
}

/// NMState's dns-resolver would set NetworkManager's global name servers, for good.
fn name_servers(settings: &ConnectionSettings, family: &str, names: BridgeNames) -> Vec<String> {
    let line = |word: &str, property: &str| {
        let all = settings.get(family, property)?.texts().join(", ");
        (!all.is_empty()).then(|| format!("{word} of {} ({family}): {all}", names.local_id()))
    };
    [line("name servers", "dns-data"), line("search domains", "dns-search")]
        .into_iter()
        .flatten()
        .collect()
}

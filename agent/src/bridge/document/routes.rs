//! Static routes, routing rules, and name servers of the local interface.

use serde_json::{Value, json};

use crate::{
    bridge::names::BridgeNames,
    model::connection::{ConnectionSettings, Record},
};

pub(super) fn routes(
    settings: &ConnectionSettings,
    family: &str,
    names: BridgeNames,
) -> Vec<Value> {
    let table = settings.number(family, "route-table").filter(|table| *table != 0);
    let route =
        |destination: &str, gateway: Option<&str>, metric: Option<i64>, own_table: Option<i64>| {
            json!({
                "destination": destination,
                "next-hop-address": gateway,
                "next-hop-interface": names.bridge,
                "metric": metric.unwrap_or(names.metric.into()),
                "table-id": own_table.or(table),
            })
        };
    let any = if family == "ipv4" { "0.0.0.0/0" } else { "::/0" };
    let by_gateway =
        settings.text(family, "gateway").map(|gateway| route(any, Some(gateway), None, None));
    let listed = settings.records(family, "route-data").iter().filter_map(|entry| {
        let text = |key: &str| entry.get(key)?.text();
        let number = |key: &str| entry.get(key)?.number();
        // Without a usual next hop it is a blackhole or the like, which NMState says otherwise.
        if text("type").is_some_and(|kind| kind != "unicast") {
            return None;
        }
        let destination = format!("{}/{}", text("dest")?, number("prefix")?);
        Some(route(&destination, text("next-hop"), number("metric"), number("table")))
    });
    by_gateway.into_iter().chain(listed).collect()
}

pub(super) fn rules(settings: &ConnectionSettings, family: &str) -> Vec<Value> {
    let rule = |entry: &Record| {
        let text = |key: &str| entry.get(key)?.text();
        let number = |key: &str| entry.get(key)?.number();
        let network = |key: &str, length: &str| {
            let full = if family == "ipv4" { 32 } else { 128 };
            Some(format!("{}/{}", text(key)?, number(length).unwrap_or(full)))
        };
        json!({
            "family": family,
            "ip-from": network("from", "from-len"),
            "ip-to": network("to", "to-len"),
            "priority": number("priority"),
            "route-table": number("table"),
            "fwmark": number("fwmark"),
            "fwmask": number("fwmask"),
            "iif": text("iifname"),
        })
    };
    settings.records(family, "routing-rules").iter().map(rule).collect()
}

/// NMState's dns-resolver would set NetworkManager's global name servers, for good.
pub(super) fn name_servers(
    settings: &ConnectionSettings,
    family: &str,
    names: BridgeNames,
) -> Vec<String> {
    let line = |word: &str, property: &str| {
        let all = settings.get(family, property)?.texts().join(", ");
        (!all.is_empty()).then(|| format!("{word} of {} ({family}): {all}", names.local_id()))
    };
    [line("name servers", "dns-data"), line("search domains", "dns-search")]
        .into_iter()
        .flatten()
        .collect()
}

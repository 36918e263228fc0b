//! Routes and rules of the document: those of the profiles.

use ipnet::IpNet;
use serde_json::Value;

use super::{configured::Configured, left_out::LeftOut};
use crate::model::{
    Profile,
    connection::{Record, Value as Property},
};

/// `RT_TABLE_MAIN`.
const MAIN: u64 = 254;

/// Static routes that a profile has; the kernel's state has more, of other programs.
pub(super) fn routes(
    state: &Value,
    configured: &Configured<'_>,
    left_out: &mut LeftOut,
) -> Vec<Value> {
    let mut others = Vec::new();
    let mut kept = Vec::new();
    for route in state["routes"]["config"].as_array().into_iter().flatten() {
        match of_profile(route, configured) {
            Some(has_metric) => kept.push(written(route, has_metric)),
            None => others.push(told(route)),
        }
    }
    left_out.add(others, "routes of no profile, as another program's are");
    kept
}

/// Whether a profile has the route, and if so, whether it has the metric too.
fn of_profile(route: &Value, configured: &Configured<'_>) -> Option<bool> {
    let destination = network(route["destination"].as_str()?)?;
    let interface = route["next-hop-interface"].as_str().unwrap_or_default();
    let profiles: Vec<&Profile> = match interface {
        // One without a next hop has no interface in the kernel.
        "" => configured.all().collect(),
        interface => configured.named(interface).into_iter().collect(),
    };
    let family = if destination.addr().is_ipv4() { "ipv4" } else { "ipv6" };
    profiles.into_iter().find_map(|profile| {
        let settings = &profile.settings;
        let has_metric = settings.number(family, "route-metric").is_some_and(|number| number >= 0);
        let gateway = settings.text(family, "gateway").filter(|_| destination.prefix_len() == 0);
        if gateway.is_some() && route["next-hop-address"].as_str() == gateway {
            return Some(has_metric);
        }
        let records = settings.records(family, "route-data");
        let own = records.iter().find(|record| of_record(record) == Some(destination))?;
        Some(has_metric || own.contains_key("metric"))
    })
}

fn of_record(record: &Record) -> Option<IpNet> {
    let prefix = record.get("prefix")?.number()?;
    network(&format!("{}/{prefix}", record.get("dest")?.text()?))
}

/// A network without the bits of a host.
fn network(text: &str) -> Option<IpNet> {
    text.parse().ok().map(|network: IpNet| network.trunc())
}

/// A route without what is the default: the main table, and a metric that NetworkManager chose.
fn written(route: &Value, has_metric: bool) -> Value {
    let mut route = route.clone();
    if let Some(route) = route.as_object_mut() {
        let is_default = |key: &str, value: &Value| match key {
            "table-id" => value.as_u64() == Some(MAIN),
            "metric" => !has_metric,
            _ => false,
        };
        route.retain(|key, value| !is_default(key, value));
    }
    route
}

fn told(route: &Value) -> String {
    let destination = route["destination"].as_str().unwrap_or("?");
    match route["next-hop-interface"].as_str() {
        Some(interface) => format!("{destination} over {interface}"),
        None => destination.to_owned(),
    }
}

pub(super) fn rules(
    state: &Value,
    configured: &Configured<'_>,
    left_out: &mut LeftOut,
) -> Vec<Value> {
    let of_profiles: Vec<(&str, Vec<Record>)> = configured
        .all()
        .flat_map(|profile| {
            ["ipv4", "ipv6"]
                .map(|family| (family, profile.settings.records(family, "routing-rules").to_vec()))
        })
        .collect();
    let is_own = |rule: &Value| {
        of_profiles.iter().filter(|(family, _)| rule["family"] == **family).any(|(_, rules)| {
            rules.iter().any(|map| {
                let same = |key: &str, word: &str| {
                    let own = map.get(key).and_then(Property::number);
                    own.is_none() || own == rule[word].as_i64()
                };
                same("priority", "priority") && same("table", "route-table")
            })
        })
    };
    let all = state["route-rules"]["config"].as_array().cloned().unwrap_or_default();
    let (own, others): (Vec<Value>, Vec<Value>) = all.into_iter().partition(is_own);
    let told = others.iter().map(|rule| {
        let of = ["ip-from", "ip-to"]
            .iter()
            .filter_map(|key| Some(format!("{} {}", &key[3..], rule[*key].as_str()?)));
        let of: Vec<String> = of.collect();
        format!("{} ({})", rule["priority"], of.join(" "))
    });
    left_out.add(told, "routing rules of no profile, as another program's are");
    own
}

//! Bridges of Open vSwitch in a form that can be written again: configuration, without status.

use serde::{Deserialize, Serialize};
use serde_json::Value;
#[cfg(test)]
use serde_json::json;

/// The key in `external_ids` by which NetworkManager identifies its own rows; the value is the
/// profile's UUID.
pub(crate) const PROFILE: &str = "NM.connection.uuid";

/// A row, column by column, in the database's own notation.
pub(crate) type Row = serde_json::Map<String, Value>;

/// A bridge with its ports and interfaces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Bridge {
    pub(crate) name: String,
    pub(crate) row: Row,
    pub(crate) ports: Vec<Port>,
    /// Rows that exist only for this bridge, such as its controllers.
    #[serde(default)]
    pub(crate) parts: Vec<BridgeRow>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Port {
    pub(crate) row: Row,
    pub(crate) interfaces: Vec<Row>,
}

/// A row that exists only for its bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BridgeRow {
    pub(crate) column: String,
    pub(crate) row: Row,
}

impl Bridge {
    /// The UUID of the profile for which NetworkManager made the bridge.
    pub(crate) fn profile(&self) -> Option<&str> {
        profile(&self.row)
    }

    /// Ports that NetworkManager did not make and does not restore.
    pub(crate) fn foreign_ports(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().filter(|port| port.is_foreign())
    }

    /// Whether activating profiles restores the whole bridge.
    pub(crate) fn is_of_profiles(&self) -> bool {
        self.profile().is_some()
            && !self.ports.is_empty()
            && !self.ports.iter().any(Port::is_foreign)
    }

    /// The MAC address that ovs-vswitchd gives the bridge, if it is set.
    pub(crate) fn hwaddr(&self) -> Option<&str> {
        in_map(&self.row, "other_config", "hwaddr")
    }

    /// Whether somebody has set how it forwards (`ovs-vsctl set-fail-mode`, `set-controller`, …), which no automatic
    /// bridge's profile does and NetworkManager does not set back.
    pub(crate) fn is_altered(&self) -> bool {
        let is_unset = |value: &Value| match value {
            Value::String(text) => text.is_empty(),
            Value::Bool(is_on) => !is_on,
            // `["set", […]]`, `["map", […]]`.
            Value::Array(pair) => pair.get(1).and_then(Value::as_array).is_some_and(Vec::is_empty),
            Value::Null | Value::Number(_) | Value::Object(_) => false,
        };
        let has_only_hwaddr = |value: &Value| {
            let pairs = value.get(1).and_then(Value::as_array);
            pairs.is_none_or(|pairs| pairs.iter().all(|pair| pair.get(0) == Some(&"hwaddr".into())))
        };
        !self.row.iter().all(|(column, value)| match column.as_str() {
            "name" | "datapath_type" | "external_ids" => true,
            "other_config" => has_only_hwaddr(value),
            _ => is_unset(value),
        }) || self.parts.iter().any(|part| part.column == "controller")
    }

    /// UUIDs of the profiles of its interfaces.
    pub(crate) fn interface_profiles(&self) -> impl Iterator<Item = &str> {
        self.interface_rows().filter_map(profile)
    }

    pub(crate) fn interfaces(&self) -> impl Iterator<Item = &str> {
        self.interface_rows().map(|i| column_text(i, "name"))
    }

    /// Its interfaces with their port numbers in flows.
    pub(crate) fn ofports(&self) -> impl Iterator<Item = (&str, u64)> {
        self.interface_rows()
            .filter_map(|i| Some((column_text(i, "name"), i.get("ofport")?.as_u64()?)))
    }

    /// Names of its interfaces that are devices of the system.
    pub(crate) fn system_interfaces(&self) -> impl Iterator<Item = &str> {
        self.interface_rows()
            .filter(|i| ["", "system"].contains(&column_text(i, "type")))
            .map(|i| column_text(i, "name"))
    }

    pub(crate) fn has_port(&self, name: &str) -> bool {
        self.ports.iter().any(|port| port.name() == name)
    }

    /// Whether `other` has the same columns, apart from its ports.
    pub(crate) fn has_columns_of(&self, other: &Self) -> bool {
        self.row == other.row
    }

    fn interface_rows(&self) -> impl Iterator<Item = &Row> {
        self.ports.iter().flat_map(|port| &port.interfaces)
    }
}

impl Port {
    pub(crate) fn name(&self) -> &str {
        column_text(&self.row, "name")
    }

    /// Whether this is one end of a pair of patch ports.
    pub(crate) fn is_patch(&self) -> bool {
        !self.interfaces.is_empty()
            && self.interfaces.iter().all(|i| column_text(i, "type") == "patch")
    }

    fn is_foreign(&self) -> bool {
        profile(&self.row).is_none() && self.interfaces.iter().all(|i| profile(i).is_none())
    }
}

pub(crate) fn column_text<'a>(row: &'a Row, column: &str) -> &'a str {
    row.get(column).and_then(Value::as_str).unwrap_or_default()
}

/// `["map", [["NM.connection.uuid", x], …]]` in `external_ids`.
fn profile(row: &Row) -> Option<&str> {
    in_map(row, "external_ids", PROFILE)
}

/// The pairs of a column with a map, `["map", [[key, value], …]]` (RFC 7047).
pub(crate) fn column_map<'a>(
    row: &'a Row,
    column: &str,
) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let pairs = row.get(column).and_then(|map| map.get(1)).and_then(Value::as_array);
    let pair = |pair: &'a Value| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?));
    pairs.into_iter().flatten().filter_map(pair)
}

fn in_map<'a>(row: &'a Row, column: &str, key: &str) -> Option<&'a str> {
    column_map(row, column).find(|(name, _)| *name == key).map(|(_, value)| value)
}

#[cfg(test)]
impl Bridge {
    /// A bridge with ports `(name, type, profile)`, for tests.
    pub(crate) fn example(
        name: &str,
        profile: Option<&str>,
        ports: &[(&str, &str, Option<&str>)],
    ) -> Self {
        let row = |name: &str, profile: Option<&str>, kind: Option<&str>| {
            let ids: Vec<_> = profile.iter().map(|uuid| json!([PROFILE, uuid])).collect();
            let mut row = Row::new();
            row.insert("name".to_owned(), json!(name));
            row.insert("external_ids".to_owned(), json!(["map", ids]));
            if let Some(kind) = kind {
                row.insert("type".to_owned(), json!(kind));
            }
            row
        };
        let port = |(name, kind, profile): &(&str, &str, Option<&str>)| Port {
            row: row(name, *profile, None),
            interfaces: vec![row(name, *profile, Some(kind))],
        };
        Self {
            name: name.to_owned(),
            row: row(name, profile, None),
            ports: ports.iter().map(port).collect(),
            parts: Vec::new(),
        }
    }

    /// This bridge with a port number for its first interface, for tests.
    pub(crate) fn with_ofport(mut self, ofport: u64) -> Self {
        self.ports[0].interfaces[0].insert("ofport".to_owned(), json!(ofport));
        self
    }

    /// This bridge with another column, for tests.
    pub(crate) fn with(mut self, column: &str, value: Value) -> Self {
        self.row.insert(column.to_owned(), value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bridge_is_altered_by_what_no_profile_sets() {
        let bridge = || {
            Bridge::example("br-ex", Some("u"), &[])
                .with("datapath_type", json!("netdev"))
                .with("fail_mode", json!(["set", []]))
                .with("protocols", json!(["set", []]))
                .with("flood_vlans", json!(["set", []]))
                .with("stp_enable", json!(false))
                .with("other_config", json!(["map", [["hwaddr", "52:54:00:00:00:01"]]]))
        };
        assert!(!bridge().is_altered());
        assert!(!bridge().with("other_config", json!(["map", []])).is_altered());
        for (column, value) in [
            ("fail_mode", json!("secure")),
            ("protocols", json!("OpenFlow13")),
            ("protocols", json!(["set", ["OpenFlow10", "OpenFlow13"]])),
            ("flood_vlans", json!(7)),
            ("stp_enable", json!(true)),
            ("other_config", json!(["map", [["hwaddr", "x"], ["disable-in-band", "true"]]])),
        ] {
            assert!(bridge().with(column, value.clone()).is_altered(), "{column} {value}");
        }
        let part = |column: &str| BridgeRow { column: column.to_owned(), row: Row::new() };
        let with = |column: &str| Bridge { parts: vec![part(column)], ..bridge() };
        assert!(with("controller").is_altered());
        // Reports on the traffic do not change it.
        assert!(!with("netflow").is_altered());
    }
}

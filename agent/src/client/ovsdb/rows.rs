//! Rows of Open vSwitch's database, read and inserted: configuration, without the status that
//! ovs-vswitchd adds.

use serde_json::{Value, json};

use crate::model::{Bridge, BridgeRow, Port, Row, column_text as text};

/// The columns of a bridge, with spaces between them; so those of other tables.
const BRIDGE: &str = "name datapath_type fail_mode external_ids other_config protocols flood_vlans stp_enable \
    rstp_enable mcast_snooping_enable";
const PORT: &str = "name mac tag trunks cvlans vlan_mode protected bond_mode bond_updelay bond_downdelay \
    bond_fake_iface fake_bridge lacp qos external_ids other_config";
/// `ofport` is status, but ovs-vswitchd takes a positive value of a new row as a preference, so
/// that flows with this port number work again.
const INTERFACE: &str = "name type mac mtu_request options ofport ofport_request lldp bfd cfm_mpid \
    ingress_policing_rate ingress_policing_burst ingress_policing_kpkts_rate \
    ingress_policing_kpkts_burst external_ids other_config";
/// Columns of a bridge that refer to other tables, with each table's configuration columns. The
/// database drops such a row together with its bridge.
const PARTS: &[(&str, &str, &str)] = &[
    (
        "controller",
        "Controller",
        "target connection_mode max_backoff inactivity_probe enable_async_messages \
         controller_rate_limit controller_burst_limit controller_queue_size local_ip \
         local_netmask local_gateway type external_ids other_config",
    ),
    (
        "netflow",
        "NetFlow",
        "targets active_timeout engine_id engine_type add_id_to_interface external_ids",
    ),
    ("sflow", "sFlow", "targets agent header polling sampling external_ids"),
    (
        "ipfix",
        "IPFIX",
        "targets sampling obs_domain_id obs_point_id cache_active_timeout cache_max_flows \
         external_ids other_config",
    ),
];

/// The tables that [`bridges`] needs, in this order.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    ["Bridge", "Port", "Interface"].into_iter().chain(PARTS.iter().map(|(_, table, _)| *table))
}

pub(super) fn bridges(tables: &[Vec<Row>]) -> Vec<Bridge> {
    let rows = |i: usize| tables.get(i).map(Vec::as_slice).unwrap_or_default();
    let port = |row: &Row| Port {
        row: keep(row, PORT),
        interfaces: referenced(row, "interfaces", rows(2)).map(interface).collect(),
    };
    let bridge = |row: &Row| Bridge {
        name: text(row, "name").to_owned(),
        row: keep(row, BRIDGE),
        ports: referenced(row, "ports", rows(1)).map(port).collect(),
        parts: PARTS
            .iter()
            .enumerate()
            .flat_map(|(i, (column, _, columns))| {
                referenced(row, column, rows(3 + i))
                    .map(|row| BridgeRow { column: (*column).to_owned(), row: keep(row, columns) })
            })
            .collect(),
    };
    rows(0).iter().map(bridge).collect()
}

fn interface(row: &Row) -> Row {
    let mut kept = keep(row, INTERFACE);
    // -1 marks a device that could not be opened.
    if kept.get("ofport").and_then(Value::as_u64).is_none_or(|ofport| ofport == 0) {
        kept.remove("ofport");
    }
    kept
}

/// Operations that insert the bridge with its foreign ports, and the reference to it.
pub(super) fn insert_bridge(bridge: &Bridge) -> (Vec<Value>, Value) {
    let (mut operations, ports) = insert_ports(bridge.foreign_ports());
    let mut row = bridge.row.clone();
    row.insert("ports".to_owned(), ports);
    for (column, table, _) in PARTS {
        let mut names = Vec::new();
        for (i, part) in bridge.parts.iter().filter(|part| part.column == *column).enumerate() {
            let name = format!("{column}{i}");
            operations.push(insert(table, &part.row, &name));
            names.push(json!(["named-uuid", name]));
        }
        if !names.is_empty() {
            row.insert((*column).to_owned(), json!(["set", names]));
        }
    }
    operations.push(insert("Bridge", &row, "bridge"));
    (operations, json!(["named-uuid", "bridge"]))
}

/// Operations that insert ports with their interfaces, and the set of references to the ports.
pub(super) fn insert_ports<'a>(ports: impl Iterator<Item = &'a Port>) -> (Vec<Value>, Value) {
    let mut operations = Vec::new();
    let mut references = Vec::new();
    for (p, port) in ports.enumerate() {
        let mut interfaces = Vec::new();
        for (i, interface) in port.interfaces.iter().enumerate() {
            let name = format!("interface{p}x{i}");
            operations.push(insert("Interface", interface, &name));
            interfaces.push(json!(["named-uuid", name]));
        }
        let mut row = port.row.clone();
        row.insert("interfaces".to_owned(), json!(["set", interfaces]));
        let name = format!("port{p}");
        operations.push(insert("Port", &row, &name));
        references.push(json!(["named-uuid", name]));
    }
    (operations, json!(["set", references]))
}

fn insert(table: &str, row: &Row, name: &str) -> Value {
    json!({"op": "insert", "table": table, "row": row, "uuid-name": name})
}

fn keep(row: &Row, columns: &str) -> Row {
    columns.split(' ').filter_map(|c| Some((c.to_owned(), row.get(c)?.clone()))).collect()
}

/// A reference column is `["uuid", x]` or `["set", [["uuid", x], …]]`.
fn referenced<'a>(row: &Row, column: &str, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    let uuids: std::collections::HashSet<String> = match row.get(column).and_then(|c| c.get(1)) {
        Some(Value::Array(set)) => set.iter().filter_map(|pair| uuid(pair.get(1))).collect(),
        one => uuid(one).into_iter().collect(),
    };
    rows.iter().filter(move |row| {
        uuid(row.get("_uuid").and_then(|u| u.get(1))).is_some_and(|uuid| uuids.contains(&uuid))
    })
}

fn uuid(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Row, bridges, insert_bridge};

    fn rows(value: Value) -> Vec<Row> {
        serde_json::from_value(value).unwrap_or_default()
    }

    #[test]
    fn what_ovn_left_is_read_and_written_again() {
        let tables = [
            rows(json!([
                {"_uuid": ["uuid", "b"], "_version": ["uuid", "v"], "name": "br-ex",
                 "datapath_id": "0000525400000001", "external_ids": ["map", [["NM.connection.uuid", "u"]]],
                 "ports": ["set", [["uuid", "p1"], ["uuid", "p2"]]], "controller": ["uuid", "c"]},
                {"_uuid": ["uuid", "i"], "name": "br-int", "ports": ["set", []]},
            ])),
            rows(json!([
                {"_uuid": ["uuid", "p1"], "name": "patch0", "interfaces": ["uuid", "i1"],
                 "external_ids": ["map", [["ovn-localnet-port", "x"]]]},
                {"_uuid": ["uuid", "p2"], "name": "eno1", "interfaces": ["uuid", "i2"],
                 "external_ids": ["map", [["NM.connection.uuid", "w"]]]},
            ])),
            rows(json!([
                {"_uuid": ["uuid", "i1"], "name": "patch0", "type": "patch", "ofport": 3,
                 "ofport_request": 3, "options": ["map", [["peer", "patch1"]]], "link_state": "up"},
                {"_uuid": ["uuid", "i2"], "name": "eno1", "type": "", "ofport": -1,
                 "external_ids": ["map", [["NM.connection.uuid", "v"]]]},
            ])),
            rows(
                json!([{"_uuid": ["uuid", "c"], "target": "tcp:192.0.2.1", "is_connected": true}]),
            ),
        ];
        let all = bridges(&tables);
        assert_eq!(all.len(), 2);
        let (br_ex, br_int) = (&all[0], &all[1]);
        assert_eq!((br_ex.profile(), br_int.profile()), (Some("u"), None));
        assert!(!br_ex.is_of_profiles());
        assert_eq!(br_ex.interface_profiles().collect::<Vec<_>>(), ["v"]);
        let foreign: Vec<_> = br_ex.foreign_ports().map(|p| (p.name(), p.is_patch())).collect();
        assert_eq!(foreign, [("patch0", true)]);

        let (operations, _) = insert_bridge(br_ex);
        let text = Value::from(operations).to_string();
        for kept in ["\"ofport\":3", "ovn-localnet-port", "patch1", "tcp:192.0.2.1", "\"u\""] {
            assert!(text.contains(kept), "{kept} in {text}");
        }
        // Status, rows' own uuids and NetworkManager's ports are not written.
        for left in ["datapath_id", "link_state", "is_connected", "_uuid", "_version", "eno1"] {
            assert!(!text.contains(left), "{left} in {text}");
        }
    }
}

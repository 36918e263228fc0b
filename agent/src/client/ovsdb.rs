//! Open vSwitch's database over its socket (RFC 7047), only what a transaction needs: which
//! bridges there are, remove some, and put one back as it was.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

/// What OVSDB said no to.
#[derive(Debug, Error)]
pub(crate) enum OvsdbError {
    #[error("cannot connect to {path}")]
    Connect { path: PathBuf, source: std::io::Error },
    #[error("cannot talk to {path}")]
    Talk { path: PathBuf, source: std::io::Error },
    #[error("{path} answered with something that is not JSON")]
    Decode { path: PathBuf, source: serde_json::Error },
    #[error("OVSDB refused {operation}: {error}")]
    Refused { operation: &'static str, error: String },
}

/// A row as the database sends it, columns that can be written again.
pub(crate) type Row = serde_json::Map<String, Value>;

/// A bridge with its ports and interfaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bridge {
    /// Name.
    pub(crate) name: String,
    /// Whether NetworkManager made it: then its profile brings it back.
    pub(crate) managed: bool,
    row: Row,
    ports: Vec<Port>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Port {
    row: Row,
    interfaces: Vec<Row>,
}

const BRIDGE: &[&str] = &[
    "name",
    "datapath_type",
    "fail_mode",
    "external_ids",
    "other_config",
    "protocols",
    "stp_enable",
    "rstp_enable",
    "mcast_snooping_enable",
];
const PORT: &[&str] =
    &["name", "tag", "trunks", "vlan_mode", "bond_mode", "lacp", "external_ids", "other_config"];
const INTERFACE: &[&str] =
    &["name", "type", "mac", "mtu_request", "options", "external_ids", "other_config"];
const DB: &str = "Open_vSwitch";

/// A connection.
pub(crate) struct Ovsdb {
    path: PathBuf,
    stream: UnixStream,
    id: u64,
}

impl Ovsdb {
    /// Connects to the socket.
    pub(crate) async fn connect(path: &Path) -> Result<Self, OvsdbError> {
        let path = path.to_path_buf();
        match UnixStream::connect(&path).await {
            Ok(stream) => Ok(Self { path, stream, id: 0 }),
            Err(source) => Err(OvsdbError::Connect { path, source }),
        }
    }

    /// All bridges.
    pub(crate) async fn bridges(&mut self) -> Result<Vec<Bridge>, OvsdbError> {
        let select = |table| json!({"op": "select", "table": table, "where": []});
        let result = self
            .transact("a query", vec![select("Bridge"), select("Port"), select("Interface")])
            .await?;
        let rows = |i: usize| -> Vec<Row> {
            let rows = result.get(i).and_then(|r| r.get("rows")).and_then(Value::as_array);
            rows.into_iter().flatten().filter_map(|r| r.as_object().cloned()).collect()
        };
        let (bridges, ports, interfaces) = (rows(0), rows(1), rows(2));
        Ok(bridges
            .iter()
            .map(|row| Bridge {
                name: row.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
                managed: row
                    .get("external_ids")
                    .is_some_and(|ids| ids.to_string().contains("NM.connection.uuid")),
                row: keep(row, BRIDGE),
                ports: referenced(row, "ports", &ports)
                    .map(|port| Port {
                        row: keep(port, PORT),
                        interfaces: referenced(port, "interfaces", &interfaces)
                            .map(|i| keep(i, INTERFACE))
                            .collect(),
                    })
                    .collect(),
            })
            .collect())
    }

    /// Removes bridges by name; fine where there is none. Ports go with them.
    pub(crate) async fn remove(&mut self, names: &[String]) -> Result<(), OvsdbError> {
        for name in names {
            let select = json!({"op": "select", "table": "Bridge",
                "where": [["name", "==", name]], "columns": ["_uuid"]});
            let result = self.transact("a query", vec![select]).await?;
            let uuid = result.first().and_then(|r| r.pointer("/rows/0/_uuid")).cloned();
            let Some(uuid) = uuid else { continue };
            let mutate = json!({"op": "mutate", "table": DB, "where": [],
                "mutations": [["bridges", "delete", ["set", [uuid]]]]});
            self.transact("the removal of a bridge", vec![mutate, reconfigure()]).await?;
        }
        Ok(())
    }

    /// Makes a bridge as it was.
    pub(crate) async fn restore(&mut self, bridge: &Bridge) -> Result<(), OvsdbError> {
        let mut operations = Vec::new();
        let mut port_names = Vec::new();
        for (p, port) in bridge.ports.iter().enumerate() {
            let mut names = Vec::new();
            for (i, interface) in port.interfaces.iter().enumerate() {
                let name = format!("i{p}x{i}");
                operations.push(json!({"op": "insert", "table": "Interface",
                    "row": interface, "uuid-name": name}));
                names.push(json!(["named-uuid", name]));
            }
            let mut row = port.row.clone();
            row.insert("interfaces".to_owned(), json!(["set", names]));
            operations.push(json!({"op": "insert", "table": "Port", "row": row,
                "uuid-name": format!("p{p}")}));
            port_names.push(json!(["named-uuid", format!("p{p}")]));
        }
        let mut row = bridge.row.clone();
        row.insert("ports".to_owned(), json!(["set", port_names]));
        operations.push(json!({"op": "insert", "table": "Bridge", "row": row, "uuid-name": "b"}));
        operations.push(json!({"op": "mutate", "table": DB, "where": [],
            "mutations": [["bridges", "insert", ["set", [["named-uuid", "b"]]]]]}));
        operations.push(reconfigure());
        self.transact("the return of a bridge", operations).await.map(|_| ())
    }

    async fn transact(
        &mut self,
        operation: &'static str,
        operations: Vec<Value>,
    ) -> Result<Vec<Value>, OvsdbError> {
        self.id += 1;
        let mut params = vec![json!(DB)];
        params.extend(operations);
        let request = json!({"method": "transact", "params": params, "id": self.id});
        let talk = |source| OvsdbError::Talk { path: self.path.clone(), source };
        self.stream.write_all(request.to_string().as_bytes()).await.map_err(talk)?;
        let mut buffer = Vec::new();
        let answer = loop {
            if self.stream.read_buf(&mut buffer).await.map_err(talk)? == 0 {
                let source = std::io::ErrorKind::UnexpectedEof.into();
                return Err(OvsdbError::Talk { path: self.path.clone(), source });
            }
            match serde_json::from_slice::<Value>(&buffer) {
                Ok(value) => break value,
                Err(e) if e.is_eof() => {}
                Err(source) => {
                    return Err(OvsdbError::Decode { path: self.path.clone(), source });
                }
            }
        };
        let refused = |error: &Value| OvsdbError::Refused { operation, error: error.to_string() };
        if let Some(error) = answer.get("error").filter(|e| !e.is_null()) {
            return Err(refused(error));
        }
        let result = answer.get("result").and_then(Value::as_array).cloned().unwrap_or_default();
        // An operation that failed, or a commit that did, is an object with `error`.
        match result.iter().find(|r| r.get("error").is_some()) {
            Some(error) => Err(refused(error)),
            None => Ok(result),
        }
    }
}

/// Tells ovs-vswitchd that there is something new, as ovs-vsctl does.
fn reconfigure() -> Value {
    json!({"op": "mutate", "table": DB, "where": [], "mutations": [["next_cfg", "+=", 1]]})
}

fn keep(row: &Row, columns: &[&str]) -> Row {
    columns.iter().filter_map(|c| Some(((*c).to_owned(), row.get(*c)?.clone()))).collect()
}

/// A reference column is `["uuid", x]` or `["set", [["uuid", x], …]]`.
fn referenced<'a>(row: &Row, column: &str, rows: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    let text = row.get(column).map(Value::to_string).unwrap_or_default();
    rows.iter().filter(move |r| {
        r.get("_uuid")
            .and_then(|u| u.get(1))
            .and_then(Value::as_str)
            .is_some_and(|uuid| text.contains(uuid))
    })
}

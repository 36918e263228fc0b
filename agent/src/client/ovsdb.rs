//! Open vSwitch's database over its socket (RFC 7047), limited to the needs of a transaction: list,
//! remove and restore bridges.

pub(crate) mod messages;
mod rows;
mod settings;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
};

use self::messages::{MAX_MESSAGE_BYTES, Message, Messages};
use crate::model::{Bridge, OvsKey, OvsMap, OvsSetting, PROFILE, Port};

/// A failed operation of OVSDB.
#[derive(Debug, Error)]
pub(crate) enum OvsdbError {
    #[error("cannot connect to {path}")]
    Connect { path: PathBuf, source: std::io::Error },
    #[error("cannot talk to {path}")]
    Talk { path: PathBuf, source: std::io::Error },
    #[error("{path} sent something that is not a message of JSON-RPC")]
    Decode { path: PathBuf, source: serde_json::Error },
    #[error("{path} sent a message of more than {MAX_MESSAGE_BYTES} bytes")]
    TooLarge { path: PathBuf },
    #[error("OVSDB refused {operation}: {error}")]
    Refused { operation: &'static str, error: String },
}

/// What a request to the database comes to.
pub(crate) type Result<T = (), E = OvsdbError> = std::result::Result<T, E>;

const DB: &str = "Open_vSwitch";
const OVN_REMOTE: &str = "ovn-remote";
/// The value that configure-ovs.sh writes; ovnkube-node writes the address again when it starts.
const BLANK: &str = " ";

pub(crate) struct Ovsdb {
    path: PathBuf,
    stream: UnixStream,
    id: u64,
    messages: Messages,
}

impl Ovsdb {
    pub(crate) async fn connect(path: &Path) -> Result<Self> {
        let path = path.to_path_buf();
        match UnixStream::connect(&path).await {
            Ok(stream) => Ok(Self { path, stream, id: 0, messages: Messages::default() }),
            Err(source) => Err(OvsdbError::Connect { path, source }),
        }
    }

    /// A connection that exists.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self { path: PathBuf::new(), stream, id: 0, messages: Messages::default() }
    }

    pub(crate) async fn bridges(&mut self) -> Result<Vec<Bridge>> {
        let select = |table| json!({"op": "select", "table": table, "where": []});
        let result = self.transact("a query", rows::tables().map(select).collect()).await?;
        let tables = result.iter().map(|table| {
            let rows = table.get("rows").and_then(Value::as_array);
            rows.into_iter().flatten().filter_map(|row| row.as_object().cloned()).collect()
        });
        Ok(rows::bridges(&tables.collect::<Vec<_>>()))
    }

    /// Removes bridges by name, with their ports; ignores missing ones.
    pub(crate) async fn remove(&mut self, names: &[String]) -> Result {
        for name in names {
            let Some(uuid) = self.uuid(name).await? else { continue };
            let operations = vec![unlink(&uuid), reconfigure()];
            self.transact("the removal of a bridge", operations).await?;
        }
        Ok(())
    }

    /// Blanks the address of OVN's southbound database; `true` if there was one.
    pub(crate) async fn forget_ovn_remote(&mut self) -> Result<bool> {
        let key = Some(OVN_REMOTE.to_owned());
        let found = self.settings(&[OvsKey { map: OvsMap::ExternalIds, key }]).await?;
        let is_set =
            |setting: &OvsSetting| setting.value.as_deref().is_some_and(|value| value != BLANK);
        let Some(remote) = found.into_iter().find(is_set) else { return Ok(false) };
        let blank = OvsSetting { value: Some(BLANK.to_owned()), ..remote };
        let mutate = settings_mutation(&[blank]);
        self.transact("to forget OVN's database", vec![mutate]).await.map(|_| true)
    }

    /// The values of these settings of Open vSwitch itself.
    pub(crate) async fn settings(&mut self, keys: &[OvsKey]) -> Result<Vec<OvsSetting>> {
        let columns = [OvsMap::ExternalIds, OvsMap::OtherConfig].map(OvsMap::column);
        let select = json!({"op": "select", "table": DB, "where": [], "columns": columns});
        let result = self.transact("a query", vec![select]).await?;
        let row = result.first().and_then(|r| r.pointer("/rows/0")).and_then(Value::as_object);
        Ok(row.map(|row| settings::of(row, keys)).unwrap_or_default())
    }

    /// Sets settings of Open vSwitch itself back.
    pub(crate) async fn set_settings(&mut self, all: &[OvsSetting]) -> Result {
        let operations = vec![settings_mutation(all), reconfigure()];
        self.transact("the return of Open vSwitch's settings", operations).await.map(|_| ())
    }

    /// Restores a bridge, replacing one of the same name; NetworkManager's ports are left to
    /// NetworkManager.
    pub(crate) async fn restore(&mut self, bridge: &Bridge) -> Result {
        let (mut operations, reference) = rows::insert_bridge(bridge);
        operations.extend(self.uuid(&bridge.name).await?.as_ref().map(unlink));
        operations.push(json!({"op": "mutate", "table": DB, "where": [],
            "mutations": [["bridges", "insert", ["set", [reference]]]]}));
        operations.push(reconfigure());
        self.transact("the return of a bridge", operations).await.map(|_| ())
    }

    /// Sets the columns of the bridge of this name to those of `bridge`.
    pub(crate) async fn set_columns(&mut self, bridge: &Bridge) -> Result {
        let mut row = bridge.row.clone();
        // OVSDB refuses any update of the name, even an identical one.
        row.remove("name");
        let update = json!({"op": "update", "table": "Bridge",
            "where": [["name", "==", bridge.name]], "row": row});
        let operations = vec![update, reconfigure()];
        self.transact("restoring a bridge's settings", operations).await.map(|_| ())
    }

    pub(crate) async fn add_ports(&mut self, bridge: &str, ports: &[&Port]) -> Result {
        let (mut operations, references) = rows::insert_ports(ports.iter().copied());
        operations.push(json!({"op": "mutate", "table": "Bridge",
            "where": [["name", "==", bridge]], "mutations": [["ports", "insert", references]]}));
        operations.push(reconfigure());
        self.transact("the return of ports", operations).await.map(|_| ())
    }

    /// Requests this port number from ovs-vswitchd, and withdraws the request once it is assigned;
    /// fails at `bound`.
    pub(crate) async fn set_ofport(
        &mut self,
        interface: &str,
        ofport: u64,
        bound: Duration,
    ) -> Result {
        let milliseconds = u32::try_from(bound.as_millis()).unwrap_or(u32::MAX);
        let of_name = json!([["name", "==", interface]]);
        let request = |value: Value| {
            json!({"op": "update", "table": "Interface", "where": of_name,
                "row": {"ofport_request": value}})
        };
        let operation = "the number of a port";
        self.transact(operation, vec![request(json!(ofport)), reconfigure()]).await?;
        let wait = json!({"op": "wait", "timeout": milliseconds, "table": "Interface",
            "where": of_name, "columns": ["ofport"], "until": "==", "rows": [{"ofport": ofport}]});
        let waited = self.transact(operation, vec![wait]).await;
        let none = vec![request(json!(["set", []])), reconfigure()];
        self.transact(operation, none).await?;
        waited.map(|_| ())
    }

    /// Returns when ovs-vswitchd has carried out all changes so far; fails at `bound`.
    pub(crate) async fn carried_out(&mut self, bound: Duration) -> Result {
        let operation = "to wait for ovs-vswitchd";
        let select = json!({"op": "select", "table": DB, "where": [], "columns": ["next_cfg"]});
        let result = self.transact("a change of next_cfg", vec![reconfigure(), select]).await?;
        let wanted = result.get(1).and_then(|r| r.pointer("/rows/0/next_cfg")).cloned();
        let milliseconds = u32::try_from(bound.as_millis()).unwrap_or(u32::MAX);
        let wait = json!({"op": "wait", "timeout": milliseconds, "table": DB,
            "where": [["cur_cfg", "<", wanted.unwrap_or(json!(0))]], "columns": ["cur_cfg"],
            "until": "==", "rows": []});
        self.transact(operation, vec![wait]).await.map(|_| ())
    }

    /// Returns when no interface of these profiles is left; fails at `bound`.
    pub(crate) async fn without_interfaces_of(
        &mut self,
        profiles: &[&str],
        bound: Duration,
    ) -> Result {
        let milliseconds = u32::try_from(bound.as_millis()).unwrap_or(u32::MAX);
        let wait = |uuid: &&str| {
            json!({"op": "wait", "timeout": milliseconds, "table": "Interface", "columns": ["name"],
                "where": [["external_ids", "includes", ["map", [[PROFILE, uuid]]]]],
                "until": "==", "rows": []})
        };
        let operations = profiles.iter().map(wait).collect();
        self.transact("to wait for NetworkManager", operations).await.map(|_| ())
    }

    async fn uuid(&mut self, bridge: &str) -> Result<Option<Value>> {
        let select = json!({"op": "select", "table": "Bridge",
            "where": [["name", "==", bridge]], "columns": ["_uuid"]});
        let result = self.transact("a query", vec![select]).await?;
        Ok(result.first().and_then(|r| r.pointer("/rows/0/_uuid")).cloned())
    }

    async fn transact(
        &mut self,
        operation: &'static str,
        operations: Vec<Value>,
    ) -> Result<Vec<Value>> {
        self.id += 1;
        let mut params = vec![json!(DB)];
        params.extend(operations);
        self.send(&json!({"method": "transact", "params": params, "id": self.id})).await?;
        let answer = loop {
            let message = self.receive().await?;
            match message.get("method").and_then(Value::as_str) {
                None => break message,
                // The server checks whether a silent client is still alive.
                Some("echo") => {
                    let (result, id) = (message.get("params"), message.get("id"));
                    self.send(&json!({"result": result, "error": null, "id": id})).await?;
                }
                Some(_) => {}
            }
        };
        let refused = |error: &Value| OvsdbError::Refused { operation, error: error.to_string() };
        if let Some(error) = answer.get("error").filter(|e| !e.is_null()) {
            return Err(refused(error));
        }
        let result = answer.get("result").and_then(Value::as_array).cloned().unwrap_or_default();
        // A failed operation or commit is an object with `error`.
        match result.iter().find(|r| r.get("error").is_some()) {
            Some(error) => Err(refused(error)),
            None => Ok(result),
        }
    }

    async fn send(&mut self, message: &Value) -> Result {
        let sent = self.stream.write_all(message.to_string().as_bytes()).await;
        sent.map_err(|source| OvsdbError::Talk { path: self.path.clone(), source })
    }

    async fn receive(&mut self) -> Result<Message> {
        loop {
            if let Some(message) = self.messages.next() {
                let decode = |source| OvsdbError::Decode { path: self.path.clone(), source };
                return message.map_err(decode);
            }
            if self.messages.is_too_large() {
                return Err(OvsdbError::TooLarge { path: self.path.clone() });
            }
            let talk = |source| OvsdbError::Talk { path: self.path.clone(), source };
            if self.stream.read_buf(self.messages.end()).await.map_err(talk)? == 0 {
                return Err(talk(std::io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

/// Removes a bridge from the database; the database deletes rows that only it referred to.
fn unlink(bridge: &Value) -> Value {
    json!({"op": "mutate", "table": DB, "where": [],
        "mutations": [["bridges", "delete", ["set", [bridge]]]]})
}

/// Sets settings of Open vSwitch itself.
fn settings_mutation(all: &[OvsSetting]) -> Value {
    let mutations: Vec<Value> = all.iter().flat_map(settings::mutations).collect();
    json!({"op": "mutate", "table": DB, "where": [], "mutations": mutations})
}

/// Notifies ovs-vswitchd of a change, as ovs-vsctl does.
fn reconfigure() -> Value {
    json!({"op": "mutate", "table": DB, "where": [], "mutations": [["next_cfg", "+=", 1]]})
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::{Ovsdb, OvsdbError, messages::MAX_MESSAGE_BYTES};

    /// Answers one request with `answers`.
    async fn asked(answers: &[Value]) -> Result<(), Box<dyn std::error::Error>> {
        answered(&answers.iter().map(Value::to_string).collect::<String>()).await
    }

    /// Answers one request with `text`, in one write.
    async fn answered(text: &str) -> Result<(), Box<dyn std::error::Error>> {
        let dir = tempfile::tempdir()?;
        let path = dir.path().join("db.sock");
        let listener = tokio::net::UnixListener::bind(&path)?;
        let server = async {
            let (mut stream, _) = listener.accept().await?;
            let mut request = vec![0; 4096];
            let _ = stream.read(&mut request).await?;
            // The client may leave before the end.
            let _ = stream.write_all(text.as_bytes()).await;
            // Read until the client is done: it may have to answer as well.
            let _ = stream.read_to_end(&mut request).await?;
            Ok::<_, Box<dyn std::error::Error>>(())
        };
        let client = async {
            let mut ovsdb = Ovsdb::connect(&path).await?;
            Ok::<_, Box<dyn std::error::Error>>(ovsdb.remove(&["br-ex".to_owned()]).await?)
        };
        let (_, removed) = tokio::join!(server, client);
        removed
    }

    #[tokio::test]
    async fn an_echo_in_between_is_no_answer() -> Result<(), Box<dyn std::error::Error>> {
        let echo = json!({"method": "echo", "params": ["x"], "id": "echo"});
        asked(&[echo, json!({"result": [{"rows": []}], "error": null, "id": 1})]).await
    }

    #[tokio::test]
    async fn a_refusal_says_what_was_refused() {
        let refusal = json!({"result": [{"error": "timed out"}], "error": null, "id": 1});
        let error = asked(&[refusal]).await.expect_err("refused");
        let refused = error.downcast_ref::<OvsdbError>();
        assert!(matches!(refused, Some(OvsdbError::Refused { .. })), "{error}");
    }

    #[tokio::test]
    async fn an_answer_without_an_end_is_too_large() {
        let text = format!("{{\"result\": [\"{}", "x".repeat(MAX_MESSAGE_BYTES));
        let error = answered(&text).await.expect_err("too large");
        let too_large = error.downcast_ref::<OvsdbError>();
        assert!(matches!(too_large, Some(OvsdbError::TooLarge { .. })), "{error}");
    }

    #[tokio::test]
    async fn an_answer_may_be_larger_than_a_read() -> Result<(), Box<dyn std::error::Error>> {
        let note = "x".repeat(1 << 20);
        asked(&[json!({"result": [{"rows": [], "note": note}], "error": null, "id": 1})]).await
    }
}

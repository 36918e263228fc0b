//! Questions to ovs-vswitchd over its control socket (ovs-appctl(8)): what it keeps in memory alone.

use std::{io, path::Path, time::Duration};

use serde_json::{Value, json};
use thiserror::Error;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::UnixStream,
    time::timeout,
};

use super::ovsdb::messages::{Message, Messages};
use crate::model::Mac;

/// It answers at once, or hangs.
const BOUND: Duration = Duration::from_secs(1);

/// A question without an answer.
#[derive(Debug, Error)]
pub(crate) enum VswitchdError {
    #[error("cannot talk to ovs-vswitchd")]
    Talk { source: io::Error },
    #[error("ovs-vswitchd sent something that is not a message of JSON-RPC")]
    Decode { source: serde_json::Error },
    #[error("ovs-vswitchd refused {method}: {error}")]
    Refused { method: &'static str, error: String },
}

/// What a question comes to.
type Result<T = (), E = VswitchdError> = std::result::Result<T, E>;

/// The addresses that somebody has bound to a bridge's local port, each with its VLAN: a port that is made anew has none.
pub(crate) async fn static_addresses(socket: &Path, bridge: &str) -> Result<Vec<(u16, Mac)>> {
    Ok(parse(&ask(socket, "fdb/show", &[bridge]).await?))
}

/// Binds an address to a bridge's local port.
pub(crate) async fn add_static_address(
    socket: &Path,
    bridge: &str,
    vlan: u16,
    mac: &Mac,
) -> Result {
    let (vlan, mac) = (vlan.to_string(), mac.to_string());
    ask(socket, "fdb/add", &[bridge, bridge, &vlan, &mac]).await.map(drop)
}

/// Lines of the form ` LOCAL     0  52:54:00:00:00:01  static`.
fn parse(text: &str) -> Vec<(u16, Mac)> {
    let entry = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ["LOCAL", vlan, mac, "static"] = words.as_slice() else { return None };
        Some((vlan.parse().ok()?, Mac::try_from((*mac).to_owned()).ok()?))
    };
    text.lines().filter_map(entry).collect()
}

async fn ask(socket: &Path, method: &'static str, params: &[&str]) -> Result<String> {
    let late = |_| VswitchdError::Talk { source: io::ErrorKind::TimedOut.into() };
    let answer = timeout(BOUND, answered(socket, method, params)).await.map_err(late)??;
    match answer.get("error") {
        Some(Value::String(error)) => {
            Err(VswitchdError::Refused { method, error: error.trim().to_owned() })
        }
        _ => Ok(answer.get("result").and_then(Value::as_str).unwrap_or_default().to_owned()),
    }
}

async fn answered(socket: &Path, method: &str, params: &[&str]) -> Result<Message> {
    let talk = |source| VswitchdError::Talk { source };
    let mut stream = UnixStream::connect(socket).await.map_err(talk)?;
    let question = json!({"method": method, "params": params, "id": 0}).to_string();
    stream.write_all(question.as_bytes()).await.map_err(talk)?;
    let mut messages = Messages::default();
    loop {
        if let Some(message) = messages.next() {
            return message.map_err(|source| VswitchdError::Decode { source });
        }
        if messages.is_too_large() || stream.read_buf(messages.end()).await.map_err(talk)? == 0 {
            return Err(talk(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn static_addresses_of_the_local_port_are_read() {
        let text = " port  VLAN  MAC                Age\n    1     0  36:da:c1:85:0a:5b    3\n \
                    LOCAL     7  52:54:00:00:00:01  static\nLOCAL     0  52:54:00:00:00:02    1\n    \
                    2     0  52:54:00:00:00:03  static\n";
        let found: Vec<String> =
            parse(text).into_iter().map(|(vlan, mac)| format!("{vlan} {mac}")).collect();
        assert_eq!(found, ["7 52:54:00:00:00:01"]);
    }
}

//! Commands in a virtual machine through the QEMU guest agent, which needs no network.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::connection::Connection;
use crate::lab::{
    command::{Output, wait_every},
    error::{Error, Result},
};

/// Bound on an answer: on a slow host a journal passes the virtual serial line slowly.
const ANSWER: Duration = Duration::from_secs(120);
/// Interval of queries: each takes the machine's scarce processor time.
const POLL: Duration = Duration::from_millis(200);

/// The guest agent of a machine, running or not yet.
#[derive(Debug, Clone)]
pub(crate) struct GuestAgent {
    socket: PathBuf,
}

impl GuestAgent {
    pub(crate) fn new(socket: PathBuf) -> Self {
        Self { socket }
    }

    /// Waits until it answers: it is a service of the running system, not of the initramfs.
    pub(crate) fn wait(&self, limit: Duration) -> Result<()> {
        Connection::open(&self.socket)?.synchronise(limit)
    }

    /// Runs a program to its end.
    pub(crate) fn run(
        &self,
        program: &str,
        arguments: &[&str],
        limit: Duration,
        input: &str,
    ) -> Result<Output> {
        let start = Instant::now();
        let mut connection = Connection::open(&self.socket)?;
        connection.synchronise(ANSWER)?;
        let started = connection.ask(
            "guest-exec",
            &json!({
                "path": program, "arg": arguments, "capture-output": true,
                "input-data": STANDARD.encode(input),
                "env": ["PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LANG=C.UTF-8"],
            }),
            ANSWER,
        )?;
        let command = [&[program], arguments].concat().join(" ");
        let ended = wait_every(POLL..=POLL, &format!("the end of `{command}`"), limit, || {
            let pid = json!({ "pid": started["pid"] });
            let status = connection.ask("guest-exec-status", &pid, ANSWER)?;
            Ok((status["exited"] == json!(true)).then_some(status))
        })?;
        let exit = ended["exitcode"].as_u64().and_then(|code| u8::try_from(code).ok());
        // Killed by a signal: the status that a shell gives.
        let exit = exit.or_else(|| u8::try_from(128 + ended["signal"].as_u64()?).ok());
        let output = [text(&ended["out-data"])?, text(&ended["err-data"])?];
        Ok(Output::remote(command, exit.unwrap_or(255), output, start.elapsed()))
    }
}

fn text(data: &Value) -> Result<String> {
    let bytes = STANDARD
        .decode(data.as_str().unwrap_or_default())
        .map_err(|e| Error::Output { program: "the guest agent", problem: e.to_string() })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

//! The protocol that QEMU's monitor and its guest agent share: a JSON object a line, each command answered once.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Write as _},
    os::unix::net::UnixStream,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::lab::error::{Error, Result};

/// Unique numbers: a machine that begins to answer first answers the questions of earlier connections.
static SYNCHRONISATIONS: AtomicU64 = AtomicU64::new(1);

/// One connection; QEMU serves one at a time.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: BufReader<UnixStream>,
    line: Vec<u8>,
}

impl Connection {
    /// Connects to a socket of QEMU's.
    pub(crate) fn open(socket: &Path) -> Result<Self> {
        let stream = UnixStream::connect(socket).map_err(Error::file("connect to", socket))?;
        stream
            .set_read_timeout(Some(Duration::from_millis(50)))
            .map_err(Error::file("set a time limit on", socket))?;
        Ok(Self { stream: BufReader::new(stream), line: Vec::new() })
    }

    /// Sends a command and returns the answer, within `limit`.
    pub(crate) fn ask(
        &mut self,
        command: &str,
        arguments: &Value,
        limit: Duration,
    ) -> Result<Value> {
        let end = Instant::now() + limit;
        self.send(command, arguments)?;
        loop {
            let mut answer = self.receive(command, end)?;
            if let Some(value) = answer.get_mut("return") {
                return Ok(value.take());
            }
            if let Some(error) = answer.get("error") {
                let problem = error["desc"].as_str().unwrap_or_default().to_owned();
                return Err(Error::Qemu { command: command.to_owned(), problem });
            }
            // An event, or the monitor's greeting.
        }
    }

    /// Synchronises with an agent that may still have answers to an earlier connection, or not run yet. It answers in order, so
    /// no older answer follows the answer to this question.
    pub(crate) fn synchronise(&mut self, limit: Duration) -> Result<()> {
        let end = Instant::now() + limit;
        loop {
            let id = SYNCHRONISATIONS.fetch_add(1, Ordering::Relaxed);
            self.send("guest-sync", &json!({ "id": id }))?;
            let patience = end.min(Instant::now() + Duration::from_secs(1));
            loop {
                match self.receive("guest-sync", patience) {
                    Ok(answer) if answer["return"] == json!(id) => return Ok(()),
                    Ok(_) => {}
                    Err(Error::Timeout { .. }) if Instant::now() < end => break,
                    Err(e) => return Err(e),
                }
            }
        }
    }

    fn send(&mut self, command: &str, arguments: &Value) -> Result<()> {
        let mut text = json!({ "execute": command, "arguments": arguments }).to_string();
        text.push('\n');
        self.stream.get_mut().write_all(text.as_bytes()).map_err(|e| failed(command, &e))
    }

    fn receive(&mut self, command: &str, end: Instant) -> Result<Value> {
        loop {
            match self.stream.read_until(b'\n', &mut self.line) {
                Ok(0) => return Err(failed(command, &ErrorKind::UnexpectedEof.into())),
                Ok(_) => {
                    let line = std::mem::take(&mut self.line);
                    let text = String::from_utf8_lossy(&line);
                    // 0xff marks the start of a delimited answer.
                    let text = text.trim_start_matches('\u{fffd}');
                    return serde_json::from_str(text).map_err(|e| Error::Qemu {
                        command: command.to_owned(),
                        problem: format!("{e} in {text}"),
                    });
                }
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                    if Instant::now() >= end {
                        let what = format!("QEMU's answer to {command}");
                        return Err(Error::Timeout { what, after: Duration::ZERO });
                    }
                }
                Err(e) => return Err(failed(command, &e)),
            }
        }
    }
}

fn failed(command: &str, error: &std::io::Error) -> Error {
    Error::Qemu { command: command.to_owned(), problem: error.to_string() }
}

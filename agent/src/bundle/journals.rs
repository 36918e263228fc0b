//! The end of the journal of this boot, of the agent and of NetworkManager.

use std::{process::Stdio, time::Duration};

use serde::{Deserialize, Serialize};
use tokio::{io::AsyncReadExt as _, process::Command};

use super::redact::Redactor;
use crate::model::facts::SourceAnswer;

/// The last lines that are asked for.
const LINES: &str = "--lines=4000";

/// The bytes that are kept of them, from their end.
const KEPT: usize = 1 << 20;

/// The most that is read.
const READ: u64 = 16 << 20;

/// A text each.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Journals {
    pub(crate) dayone: SourceAnswer<String>,
    pub(crate) network_manager: SourceAnswer<String>,
}

impl Journals {
    /// The journals of the running system, each read within `bound`.
    pub(crate) async fn now(bound: Duration) -> Self {
        let own = ["--identifier=dayone"];
        let (dayone, network_manager) =
            tokio::join!(journal(&own, bound), journal(&["--unit=NetworkManager.service"], bound));
        Self { dayone, network_manager }
    }

    pub(crate) fn none(why: &str) -> Self {
        let none = || SourceAnswer::Error(why.to_owned());
        Self { dayone: none(), network_manager: none() }
    }

    /// Hides their secrets.
    pub(crate) fn redacted(mut self, redactor: &Redactor) -> Self {
        for journal in [&mut self.dayone, &mut self.network_manager] {
            let (SourceAnswer::Value(text) | SourceAnswer::Error(text)) = journal;
            *text = redactor.text(text);
        }
        self
    }
}

async fn journal(of: &[&str], bound: Duration) -> SourceAnswer<String> {
    match tokio::time::timeout(bound, asked(of)).await {
        Ok(Ok(text)) => SourceAnswer::Value(text),
        Ok(Err(why)) => SourceAnswer::Error(why),
        Err(_) => {
            SourceAnswer::Error(format!("journalctl did not end within {} s", bound.as_secs()))
        }
    }
}

async fn asked(of: &[&str]) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("journalctl: {error}");
    let mut journalctl = Command::new("journalctl");
    journalctl.args(["--boot", "--no-pager", "--quiet", "--output=short-iso-precise", LINES]);
    journalctl.args(of).kill_on_drop(true).stdin(Stdio::null());
    journalctl.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = journalctl.spawn().map_err(failed)?;
    let (Some(output), Some(errors)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("journalctl has no output".to_owned());
    };
    let (mut text, mut said) = (Vec::new(), Vec::new());
    let (mut output, mut errors) = (output.take(READ), errors.take(4096));
    let read = tokio::try_join!(output.read_to_end(&mut text), errors.read_to_end(&mut said));
    read.map_err(failed)?;
    if text.len() as u64 == READ {
        return Ok(end(&text));
    }
    let status = child.wait().await.map_err(failed)?;
    match status.success() {
        true => Ok(end(&text)),
        false => Err(format!("journalctl: {status}: {}", String::from_utf8_lossy(&said).trim())),
    }
}

/// The end of a text, from the beginning of a line.
fn end(text: &[u8]) -> String {
    let kept = &text[text.len().saturating_sub(KEPT)..];
    let is_cut = kept.len() < text.len();
    let cut = kept.iter().position(|byte| *byte == b'\n').filter(|_| is_cut);
    String::from_utf8_lossy(&kept[cut.map_or(0, |at| at + 1)..]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_begins_with_a_line() {
        assert_eq!(end(b"a\nb\n"), "a\nb\n");
        let long = format!("{}\nlast\n", "x".repeat(KEPT));
        assert_eq!(end(long.as_bytes()), "last\n");
    }
}

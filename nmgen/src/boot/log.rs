//! Lines for the kernel log and the console.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use super::paths::Paths;

/// The kernel cuts a record at some 1,000 bytes (`LOG_LINE_MAX`, printk), and so do we.
const MAX_BYTES: usize = 900;

/// How bad a line is, by syslog's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Error = 3,
    Warning = 4,
    Info = 6,
}

/// Writes each line to `/dev/kmsg` and to standard error, which the unit connects to the console.
pub(crate) struct Log {
    kernel: Option<File>,
}

impl Log {
    pub(crate) fn open(paths: &Paths) -> Self {
        Self { kernel: OpenOptions::new().append(true).open(paths.under("/dev/kmsg")).ok() }
    }

    /// Says it in one line, whatever is in it.
    pub(crate) fn say(&self, level: Level, text: &str) {
        let mut line: String = text.chars().flat_map(plain).collect();
        if line.len() > MAX_BYTES {
            let end = (0..=MAX_BYTES).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
            line.truncate(end);
            line.push('…');
        }
        // With both of them gone there is no one left to tell.
        if let Some(mut kernel) = self.kernel.as_ref() {
            let _ = kernel.write_all(format!("<{}>nmgen: {line}\n", level as u8).as_bytes());
        }
        let _ = io::stderr().lock().write_all(format!("nmgen: {line}\n").as_bytes());
    }
}

/// Control characters as they are written in a string.
fn plain(character: char) -> impl Iterator<Item = char> {
    let escaped = character.is_control().then(|| character.escape_default());
    let itself = (!character.is_control()).then_some(character);
    escaped.into_iter().flatten().chain(itself)
}

//! Lines for the kernel log and the console.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use nmgen_document::format::{cut, is_control};

use crate::root::Paths;

/// The kernel truncates a record at about 1,000 bytes (`LOG_LINE_MAX`, printk).
const MAX_BYTES: usize = 900;

/// Severity, with syslog's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Error = 3,
    Warning = 4,
    Info = 6,
}

/// Writes each line to standard error, which the unit connects to the journal and the console, and to `/dev/kmsg` unless the
/// journal has it already.
pub(crate) struct Log {
    kernel: Option<File>,
    console: Console,
}

/// The reader of standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Console {
    /// A person, or a file.
    Plain,
    /// systemd-journald, which takes a level before the line (sd-daemon(3)), and has the program's name.
    Journal,
    #[cfg(test)]
    None,
}

impl Log {
    pub(crate) fn open(paths: &Paths) -> Self {
        let kernel = || OpenOptions::new().append(true).open(paths.under("/dev/kmsg")).ok();
        match is_journal() {
            true => Self { kernel: None, console: Console::Journal },
            false => Self { kernel: kernel(), console: Console::Plain },
        }
    }

    /// Only the kernel's log.
    #[cfg(test)]
    pub(crate) fn without_console(paths: &Paths) -> Self {
        Self { console: Console::None, ..Self::open(paths) }
    }

    /// From now on a panic is logged as one line. The program ends after it.
    pub(crate) fn say_panics(self) {
        std::panic::set_hook(Box::new(move |panic| {
            let payload = panic.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
            let place = panic.location().map(|at| format!(" ({at})")).unwrap_or_default();
            let text = text.unwrap_or("no message");
            self.say(Level::Error, &format!("nmgen panicked: {text}{place}; the boot goes on"));
        }));
    }

    /// Writes one line; control characters in the text are escaped.
    pub(crate) fn say(&self, level: Level, text: &str) {
        let mut line: String = text.chars().flat_map(plain).collect();
        let kept = cut(&line, MAX_BYTES).len();
        if kept < line.len() {
            line.truncate(kept);
            line.push('…');
        }
        // If both fail, there is no place left to report it.
        if let Some(mut kernel) = self.kernel.as_ref() {
            let _ = kernel.write_all(format!("<{}>nmgen: {line}\n", level as u8).as_bytes());
        }
        let line = match self.console {
            Console::Plain => format!("nmgen: {line}\n"),
            Console::Journal => format!("<{}>{line}\n", level as u8),
            #[cfg(test)]
            Console::None => return,
        };
        let _ = io::stderr().lock().write_all(line.as_bytes());
    }
}

/// True when standard error is connected to the journal: systemd.exec(5), `$JOURNAL_STREAM`.
fn is_journal() -> bool {
    let Some(stream) = std::env::var("JOURNAL_STREAM").ok() else { return false };
    let found = fs::metadata("/proc/self/fd/2");
    found.is_ok_and(|metadata| stream == format!("{}:{}", metadata.dev(), metadata.ino()))
}

/// Escapes a control character as in a string literal.
fn plain(character: char) -> impl Iterator<Item = char> {
    let escaped = is_control(character).then(|| character.escape_default());
    let itself = (!is_control(character)).then_some(character);
    escaped.into_iter().flatten().chain(itself)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, reason = "a panic is what it is about")]

    use std::path::Path;

    use super::*;

    #[test]
    fn a_panic_is_one_line() -> io::Result<()> {
        let root = tempfile::tempdir()?;
        std::fs::create_dir(root.path().join("dev"))?;
        let kernel = root.path().join("dev/kmsg");
        File::create(&kernel)?;
        Log::open(&Paths::new(root.path())).say_panics();
        let panicked = std::panic::catch_unwind(|| panic!("of {}\n lines", 2));
        drop(std::panic::take_hook());
        assert!(panicked.is_err());
        let said = std::fs::read_to_string(kernel)?;
        let file = Path::new(file!()).file_name().unwrap_or_default().to_string_lossy();
        assert!(said.starts_with("<3>nmgen: nmgen panicked: of 2\\n lines ("), "{said}");
        assert!(said.contains(&*file) && said.ends_with("); the boot goes on\n"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        Ok(())
    }
}

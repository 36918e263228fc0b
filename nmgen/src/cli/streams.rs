//! Standard output and standard error.

use std::io::{self, IsTerminal, Write};

use crate::diagnostic::{Diagnostic, Style, render_all};
use crate::error::Error;
use crate::format::{chain, counted};

/// Writes to standard output for people or other programs, which may stop reading, as `head` does.
pub(super) fn text(text: &str) -> Result<(), Error> {
    match bytes(text.as_bytes()) {
        Err(Error::WriteOutput { source }) if source.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Writes to standard output.
pub(super) fn bytes(bytes: &[u8]) -> Result<(), Error> {
    let mut stdout = io::stdout().lock();
    stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .map_err(|source| Error::WriteOutput { source })
}

/// Writes every diagnostic to standard error, and their counts as the last line.
pub(super) fn diagnostics(diagnostics: &[Diagnostic]) {
    if diagnostics.is_empty() {
        return;
    }
    let style = style(io::stderr().is_terminal());
    let mut text = render_all(diagnostics, style);
    text.push_str(&summary(diagnostics));
    // If standard error is closed, there is no place left to report it.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn summary(diagnostics: &[Diagnostic]) -> String {
    let errors = diagnostics.iter().filter(|d| d.is_error()).count();
    let warnings = diagnostics.len() - errors;
    format!("{}, {}\n", counted(errors, "error"), counted(warnings, "warning"))
}

/// Writes the chain of an error to standard error.
pub(super) fn error(error: &Error) {
    let _ = io::stderr().lock().write_all(format!("nmgen: {}\n", chain(error)).as_bytes());
}

/// Writes a line about a success to standard error.
pub(super) fn note(text: &str) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
}

/// Colours on a terminal, unless <https://no-color.org>'s variable is set.
pub(super) fn style(is_terminal: bool) -> Style {
    let wanted = is_terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted { Style::Coloured } else { Style::Plain }
}

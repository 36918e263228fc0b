//! Standard output and standard error, or what a caller has in their place.

use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use nmgen_document::diagnostic::{Diagnostic, Style, render_report};
use nmgen_document::error::Error;
use nmgen_document::format::{chain, printable_lines};

/// Where a command writes.
pub struct Streams<'s> {
    output: &'s mut dyn Write,
    messages: &'s mut dyn Write,
    output_style: Style,
    messages_style: Style,
}

impl<'s> Streams<'s> {
    /// For programs: without colours.
    pub fn new(output: &'s mut dyn Write, messages: &'s mut dyn Write) -> Self {
        Self { output, messages, output_style: Style::Plain, messages_style: Style::Plain }
    }

    /// Standard output and standard error of this process.
    pub(super) fn standard(output: &'s mut Stdout, messages: &'s mut Stderr) -> Self {
        let (output_style, messages_style) =
            (Style::of_terminal(output.is_terminal()), Style::of_terminal(messages.is_terminal()));
        Self { output, messages, output_style, messages_style }
    }

    /// The style of what goes to standard output.
    pub(super) fn output_style(&self) -> Style {
        self.output_style
    }

    /// Writes to standard output for people or other programs, which may stop reading, as `head` does.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        match self.bytes(text.as_bytes()) {
            Err(Error::WriteOutput { source }) if source.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written,
        }
    }

    /// Writes to standard output.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.output.write_all(bytes).and_then(|()| self.output.flush());
        written.map_err(|source| Error::WriteOutput { source })
    }

    /// Writes every diagnostic to standard error, and their counts as the last line.
    pub(super) fn diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        self.message(&render_report(diagnostics, self.messages_style));
    }

    /// Writes the chain of an error to standard error.
    pub(super) fn error(&mut self, error: &Error) {
        self.note(&format!("nmgen: {}", chain(error)));
    }

    /// Writes a line about a success to standard error.
    pub(super) fn note(&mut self, text: &str) {
        self.message(&printable_lines(&format!("{text}\n")));
    }

    /// Writes to standard error. If that is closed, there is no place left to report it.
    pub(super) fn message(&mut self, text: &str) {
        let _ = self.messages.write_all(text.as_bytes());
    }
}

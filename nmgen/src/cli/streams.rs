//! Standard output and standard error, or what a caller has in their place.

use std::io::{self, IsTerminal, Stderr, Stdout, Write};

use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostic, Style, render_report};
use nmgen_document::error::Error;
use nmgen_document::format::{chain, printable, printable_lines, printable_page, shortened};
use nmgen_fleet::source::Hosts;

use super::general::{Color, GeneralArguments};
use super::short;

/// A condition of Kubernetes, in which image-customization-controller shows everything, has room for 32 KiB. Notes and the last
/// line come besides.
const MOST_FOR_NMSTATECTL: usize = 20;
const MOST_BYTES_FOR_NMSTATECTL: usize = 24 << 10;
/// The reason of a failure, which may quote a name.
const LONGEST_REASON: usize = 2_000;

/// Where a command writes.
pub struct Streams<'s> {
    output: &'s mut dyn Write,
    messages: &'s mut dyn Write,
    output_style: Style,
    messages_style: Style,
    /// A person would get the output's bytes.
    output_is_terminal: bool,
    general: GeneralArguments,
    /// The reader expects nmstatectl's errors.
    pub(super) is_nmstatectl: bool,
}

impl<'s> Streams<'s> {
    /// For programs: without colours.
    pub fn new(output: &'s mut dyn Write, messages: &'s mut dyn Write) -> Self {
        Self {
            output,
            messages,
            output_style: Style::Plain,
            messages_style: Style::Plain,
            output_is_terminal: false,
            general: GeneralArguments::default(),
            is_nmstatectl: false,
        }
    }

    /// Standard output and standard error of this process.
    pub(super) fn standard(output: &'s mut Stdout, messages: &'s mut Stderr) -> Self {
        let (output_is_terminal, messages_is) = (output.is_terminal(), messages.is_terminal());
        Self {
            output_style: Style::of_terminal(output_is_terminal),
            messages_style: Style::of_terminal(messages_is),
            output_is_terminal,
            ..Self::new(output, messages)
        }
    }

    /// Takes over the options of every command.
    pub(super) fn set(&mut self, general: GeneralArguments) {
        let style = match general.color {
            Some(Color::Always) => Some(Style::Coloured),
            Some(Color::Never) => Some(Style::Plain),
            Some(Color::Auto) | None => None,
        };
        if let Some(style) = style {
            (self.output_style, self.messages_style) = (style, style);
        }
        self.general = general;
    }

    /// Whether a terminal would get the output.
    pub(super) fn output_is_terminal(&self) -> bool {
        self.output_is_terminal
    }

    /// The style of what goes to standard output.
    pub(super) fn output_style(&self) -> Style {
        self.output_style
    }

    /// Writes to standard output for people or other programs, which may stop reading, as `head` does. Nothing in the text controls
    /// a terminal but the colours, where the output has some.
    pub(super) fn text(&mut self, text: &str) -> Result<(), Error> {
        match self.bytes(shown(text, self.output_style).as_bytes()) {
            Err(Error::WriteOutput { source }) if source.kind() == io::ErrorKind::BrokenPipe => {
                Ok(())
            }
            written => written,
        }
    }

    /// Writes what a command makes, as it is: documents, profiles, archives.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.output.write_all(bytes).and_then(|()| self.output.flush());
        written.map_err(|source| Error::WriteOutput { source })
    }

    /// Writes every diagnostic to standard error, and their counts as the last line.
    pub(super) fn diagnostics(&mut self, diagnostics: &[Diagnostic]) {
        let is_told = |finding: &&Diagnostic| finding.is_error() || !self.general.quiet;
        let told: Vec<Diagnostic> = diagnostics.iter().filter(is_told).cloned().collect();
        if !self.is_nmstatectl {
            return self.message(&render_report(&told, self.messages_style));
        }
        let (report, rest) = first_of(&told, self.messages_style);
        self.message(&report);
        if !rest.is_empty() {
            self.message(&format!("{} more: `nmgen check` shows all\n", rest.len()));
        }
        self.message(&short::last_line(&told));
    }

    /// With `--verbose`, tells each host that was read.
    pub(super) fn read(&mut self, hosts: &Hosts) {
        if self.general.verbose {
            for host in &hosts.hosts {
                self.line(&read_line(host));
            }
        }
    }

    /// Writes the chain of an error to standard error.
    pub(super) fn error(&mut self, error: &Error) {
        self.refuse(&chain(error));
    }

    /// Writes the reason of a failure to standard error.
    pub(super) fn refuse(&mut self, reason: &str) {
        let who = if self.is_nmstatectl { "Error" } else { "nmgen" };
        self.line(&format!("{who}: {}", shortened(reason, LONGEST_REASON)));
    }

    /// Writes a line about a success to standard error.
    pub(super) fn note(&mut self, text: &str) {
        if !self.general.quiet {
            self.line(text);
        }
    }

    /// Writes one line to standard error. A name with a line's end begins no other one, which a pipeline may take for a command.
    fn line(&mut self, text: &str) {
        self.message(&(printable(text) + "\n"));
    }

    /// Writes to standard error. If that is closed, there is no place left to report it.
    pub(super) fn message(&mut self, text: &str) {
        let _ = self.messages.write_all(shown(text, self.messages_style).as_bytes());
    }
}

/// Text of a command as a stream of this style gets it.
fn shown(text: &str, style: Style) -> String {
    match style {
        Style::Plain => printable_lines(text),
        Style::Coloured => printable_page(text),
    }
}

/// As many findings as there is room for, and the rest.
fn first_of(told: &[Diagnostic], style: Style) -> (String, &[Diagnostic]) {
    let counts = (1..=told.len().min(MOST_FOR_NMSTATECTL)).rev();
    let mut reports = counts.map(|count| (render_report(&told[..count], style), &told[count..]));
    let found = reports.find(|(report, _)| report.len() <= MOST_BYTES_FOR_NMSTATECTL);
    found.unwrap_or((String::new(), told))
}

fn read_line(host: &Host) -> String {
    let name = host.name.as_deref().unwrap_or("a document");
    let words = [("cluster", host.cluster.as_deref()), ("role", host.role.as_deref())];
    let words = words.into_iter().chain([("policy", host.policy.as_deref())]);
    let words = words.filter_map(|(word, value)| Some(format!(", {word} {}", value?)));
    let stage = match host.stage {
        Stage::Early => ", for the early boot",
        Stage::Node => ", for the running node",
        Stage::Any => "",
    };
    let network = if host.document().is_some() { "" } else { ", without a network" };
    let words: String = words.collect();
    format!("read {name}{words}{stage}{network}: {}", host.place.shown())
}

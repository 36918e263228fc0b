//! The command line of the initramfs program: documents and hosts directories in, profiles out.

use std::path::Path;

use clap::{Args, Subcommand, ValueEnum};

use super::done::Done;
use super::streams::Streams;
use crate::boot::{Fault, Log, Paths};
use crate::convert;
use crate::diagnostic::{Diagnostic, Diagnostics, to_json};
use crate::error::Error;
use crate::output::{Form, Options};
use crate::source::Hosts;

/// The help text of SOURCE.
pub(super) const SOURCE: &str = "\
An NMState document (YAML or JSON), '-' for standard input, or a
directory with <hostname>.yml files and cluster.yml";

/// No further examples of `generate`.
pub(super) const EXAMPLES: &str = "";

/// The forms of output by their names on the command line.
#[allow(rustdoc::invalid_html_tags, reason = "these are help texts")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum To {
    /// One <id>.nmconnection file a profile
    Keyfiles,
    /// The YAML that `nmstatectl gc` prints
    Gc,
    /// The documents, one <host>.yml a host
    Hosts,
}

impl From<To> for Form {
    fn from(to: To) -> Self {
        match to {
            To::Keyfiles => Self::Keyfiles,
            To::Gc => Self::Gc,
            To::Hosts => Self::Hosts,
        }
    }
}

/// No form has options.
#[derive(Debug, Clone, Args)]
pub(super) struct FormArguments {}

impl FormArguments {
    pub(super) fn verify(&self, _: To, _: Option<&Path>) -> Result<(), String> {
        Ok(())
    }

    pub(super) fn derived(&self, hosts: Hosts) -> Hosts {
        hosts
    }

    pub(super) fn beside(&self) -> Option<(Form, &Path)> {
        None
    }

    pub(super) fn options(&self) -> Result<Options, Error> {
        Ok(Options::default())
    }
}

/// No live root has this program.
#[derive(Debug, Clone, Args)]
pub(super) struct LiveArguments {}

impl LiveArguments {
    pub(super) fn run(&self, _: &Paths, _: &Log) -> Option<Result<(), Fault>> {
        None
    }
}

/// The stack has one form.
#[derive(Debug, Clone, Args)]
pub(super) struct DrawingArguments {}

impl DrawingArguments {
    pub(super) fn staged(&self, hosts: Hosts) -> Hosts {
        hosts
    }

    pub(super) fn picture(&self, _: &Hosts) -> Option<String> {
        None
    }
}

/// The forms of findings by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// For people, on standard error
    Text,
    /// One object, on standard output
    Json,
}

/// All findings are told.
#[derive(Debug, Args)]
pub(super) struct FindingArguments {}

impl FindingArguments {
    pub(super) fn of(&self, hosts: &Hosts) -> Diagnostics {
        convert::diagnose(hosts)
    }
}

/// Writes the findings.
pub(super) fn findings(
    format: Format,
    diagnostics: &[Diagnostic],
    streams: &mut Streams<'_>,
) -> Result<(), Error> {
    match format {
        Format::Text => streams.diagnostics(diagnostics),
        Format::Json => streams.text(&to_json(diagnostics, None))?,
    }
    Ok(())
}

/// Tells programs that the sources cannot be read.
pub(super) fn failure(format: Format, error: &str, streams: &mut Streams<'_>) -> Result<(), Error> {
    match format {
        Format::Text => Ok(()),
        Format::Json => streams.text(&to_json(&[], Some(error))),
    }
}

/// No further commands.
#[derive(Debug, Subcommand)]
pub(super) enum Further {}

pub(super) fn verify(command: &Further) -> Result<(), String> {
    match *command {}
}

pub(super) fn run(command: &Further, _: &mut Streams<'_>) -> Result<Done, Error> {
    match *command {}
}

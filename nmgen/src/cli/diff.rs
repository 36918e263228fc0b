//! `nmgen diff`.

mod json;
mod text;

use clap::{Args, ValueEnum};
use nmgen_document::error::Error;
use nmgen_fleet::changes::{self, HostChange, HostComparison};
use nmgen_fleet::page;
use nmgen_fleet::source::{self, Extent};

use crate::cli::done::Done;
use crate::cli::selection::SelectionArguments;
use crate::cli::streams::Streams;

pub(super) const EXAMPLES: &str = "\
Examples:
  nmgen diff hosts/ hosts.new/
      + added, - removed, ~ changed, field by field.
  oc get machineconfig 10-br-ex-worker -o yaml | nmgen diff - hosts/
      The changes by a new MachineConfig made from hosts/.
  nmgen diff --exit-code deployed/ hosts/ || echo \"to be rolled out\"

If a side cannot be read, its faults are on standard error and nothing is on
standard output. With --exit-code the exit code is 1 for a difference, and 2
for everything that goes wrong, as diff(1) has it.";

#[derive(Debug, Args)]
pub(crate) struct DiffArguments {
    /// The form of the differences
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = DiffForm::Text)]
    format: DiffForm,
    /// Exit with 1 if there is a difference
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    selection: SelectionArguments,
    /// The present sources: any that the other commands read
    #[arg(value_name = "OLD")]
    pub(super) old: String,
    /// The new sources
    #[arg(value_name = "NEW")]
    pub(super) new: String,
}

/// The forms of differences by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DiffForm {
    /// For people; a change of many hosts is shown once
    Text,
    /// One object with every change of every host
    Json,
    /// A page for a browser, with both states of each host side by side
    Html,
}

impl DiffArguments {
    /// Refuses arguments that contradict each other.
    ///
    /// # Errors
    /// The message for the user.
    pub(super) fn verify(&self) -> Result<(), String> {
        match (&*self.old, &*self.new) {
            ("-", "-") => Err("standard input cannot be both OLD and NEW".to_owned()),
            _ => Ok(()),
        }
    }
}

pub(super) fn run(arguments: &DiffArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    match (differences(arguments, streams), arguments.exit_code) {
        (Err(error), true) => {
            streams.error(&error);
            Ok(Done::InputWrong)
        }
        (Ok(DiffOutcome::Differences), true) => Ok(Done::Failed),
        (Ok(DiffOutcome::Faults), _) => Ok(Done::InputWrong),
        (Ok(DiffOutcome::Differences | DiffOutcome::Nothing), _) => Ok(Done::Success),
        (Err(error), false) => Err(error),
    }
}

/// The outcome of a comparison.
enum DiffOutcome {
    /// The sources are equal.
    Nothing,
    Differences,
    /// A side cannot be read; the diagnostics give the reason.
    Faults,
}

fn differences(arguments: &DiffArguments, streams: &mut Streams<'_>) -> Result<DiffOutcome, Error> {
    let mut old = source::load_for(&[&arguments.old], Extent::Shown)?;
    let mut new = source::load_for(&[&arguments.new], Extent::Shown)?;
    let sources = [arguments.old.clone(), arguments.new.clone()];
    arguments.selection.of(&sources).keep_of_both(&mut old, &mut new);
    streams.read(&old);
    streams.read(&new);
    let mut diagnostics = old.diagnostics.clone();
    diagnostics.extend(new.diagnostics.clone());
    diagnostics.extend(changes::losses(&old, &new));
    streams.diagnostics(&diagnostics);
    // Unread parts would be shown as removed or added.
    if diagnostics.has_errors() {
        return Ok(DiffOutcome::Faults);
    }
    let compared = changes::compared(&old, &new);
    let found = if compared.is_empty() { DiffOutcome::Nothing } else { DiffOutcome::Differences };
    let changes = |compared: Vec<HostComparison<'_>>| -> Vec<HostChange> {
        compared.into_iter().map(|comparison| comparison.change).collect()
    };
    streams.text(&match arguments.format {
        DiffForm::Text => text::painted(&changes(compared), streams.output_style()),
        DiffForm::Json => json::json(&changes(compared)),
        DiffForm::Html => {
            let hosts = old.hosts.len().max(new.hosts.len());
            page::changes(&compared, hosts, &arguments.old, &arguments.new)
        }
    })?;
    Ok(found)
}

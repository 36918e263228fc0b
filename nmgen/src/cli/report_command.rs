//! `nmgen report`.

mod json;
mod text;

use clap::{Args, ValueEnum};
use nmgen_document::error::Error;
use nmgen_fleet::report::{self, Report};

use crate::cli::done::Done;
use crate::cli::streams::Streams;

pub(super) const EXAMPLES: &str = "\
Examples:
  nmgen report must-gather/dayone/
      Of every node: outcome, cause, who is late, which document.
  for node in $nodes; do ssh root@$node dayone status --json; done |
    nmgen report -
      A stream of objects, one after the other.

Exit codes: 0 every node is as its document wants; 3 a node is not; 1 and 2
as of every command: 2 too if a file is no account of a node, or there is
none.";

#[derive(Debug, Args)]
pub(crate) struct ReportArguments {
    /// The form of the report
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ReportForm::Text)]
    format: ReportForm,
    /// Files of `dayone collect`, `dayone status --json` or `dayone health
    /// --format json`, directories with such files, '-' for a stream
    #[arg(value_name = "FILE", required = true, verbatim_doc_comment)]
    files: Vec<String>,
}

/// The forms of reports by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ReportForm {
    /// For people
    Text,
    /// One object with every node
    Json,
}

pub(super) fn run(arguments: &ReportArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let found = report::read(&arguments.files)?;
    for unread in &found.unread {
        streams.refuse(&format!("{}: {}", unread.file, unread.why));
    }
    let report = Report::of(&found.nodes);
    streams.text(&match arguments.format {
        ReportForm::Text => text::text(&found.nodes, &report),
        ReportForm::Json => json::json(&found.nodes, &report),
    })?;
    if found.skipped > 0 {
        let were = if found.skipped == 1 {
            "file of another kind was"
        } else {
            "files of other kinds were"
        };
        streams.note(&format!("{} {were} passed over", found.skipped));
    }
    Ok(if !found.unread.is_empty() {
        Done::InputWrong
    } else if found.nodes.is_empty() {
        streams.refuse("there is no account of a node");
        Done::InputWrong
    } else if report.is_good() {
        Done::Success
    } else {
        Done::NotAsWanted
    })
}

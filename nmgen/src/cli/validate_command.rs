//! `nmstatectl validate`: the verdict on a state or policy, and the document on standard output.

use std::path::PathBuf;

use clap::Args;
use nmgen_core::{check, state};
use nmgen_document::Document;
use nmgen_document::error::Error;
use nmgen_fleet::source::{self, Extent};

use super::done::{Done, verdict};
use super::streams::Streams;

/// nmstatectl's own arguments of `validate`.
#[derive(Debug, Args)]
pub(super) struct ValidateArguments {
    /// A state or policy (YAML or JSON), '-' for standard input
    #[arg(value_name = "STATE_FILE", default_value = "-")]
    source: String,
    /// nmstatectl's: validate for a node in this state; refused here
    #[arg(short, long, value_name = "CURRENT_STATE")]
    current: Option<PathBuf>,
}

/// nmstate merges a current state in the parts of its library that change a network, which nmgen is not linked with.
const NO_CURRENT: &str = "\
this is nmgen in the place of nmstatectl: it validates without a node's current state; install nmstate for --current, or let \
`dayone apply --dry-run` judge on the node";

/// nmstatectl, too, validates a policy by nothing more without a current state.
const OF_A_POLICY: &str =
    "a policy: its captures are known on a node alone, and only its form is validated";

pub(super) fn run(arguments: &ValidateArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    if arguments.current.is_some() {
        streams.refuse(NO_CURRENT);
        return Ok(Done::InputWrong);
    }
    let hosts = source::load_for(std::slice::from_ref(&arguments.source), Extent::Validated)?;
    let documents: Vec<&Document<'_>> =
        hosts.hosts.iter().filter_map(|host| host.document()).collect();
    let diagnostics = if documents.iter().any(|document| check::is_policy(document)) {
        streams.note(OF_A_POLICY);
        hosts.diagnostics.clone()
    } else {
        nmgen_fleet::validate(&hosts)
    };
    streams.diagnostics(&diagnostics);
    let done = verdict(&diagnostics, false);
    if done == Done::Success {
        for document in documents {
            let shown = state::shown(&document.root, check::is_policy(document))?;
            streams.text(&shown)?;
        }
    }
    Ok(done)
}

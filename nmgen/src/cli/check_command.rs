//! `nmgen check`.

use super::arguments::CheckArguments;
use super::done::{Done, verdict};
use super::edition::{self, Format};
use super::streams::Streams;
use crate::error::Error;
use crate::format::{chain, counted};
use crate::source;

pub(super) fn run(arguments: &CheckArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let mut hosts = match source::load(&arguments.sources) {
        Ok(hosts) => hosts,
        Err(error) => {
            edition::failure(arguments.format, &chain(&error), streams)?;
            return Err(error);
        }
    };
    arguments.selection.of(&arguments.sources).keep(&mut hosts);
    let diagnostics = arguments.findings.of(&hosts);
    edition::findings(arguments.format, &diagnostics, streams)?;
    if diagnostics.is_empty() && arguments.format == Format::Text {
        streams.note(&success(hosts.hosts.len(), &arguments.sources));
    }
    Ok(verdict(&diagnostics, arguments.deny_warnings))
}

/// The proof that the right thing was read.
fn success(hosts: usize, sources: &[String]) -> String {
    format!("{} in {}, no errors", counted(hosts, "host"), sources.join(", "))
}

//! `nmgen check`.

use super::arguments::{CheckArguments, Format};
use super::done::{Done, verdict};
use super::streams;
use crate::diagnostic::to_json;
use crate::error::Error;
use crate::{convert, source};

pub(super) fn run(arguments: &CheckArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.sources)?;
    let diagnostics = convert::diagnose(&hosts);
    match arguments.format {
        Format::Text => streams::diagnostics(&diagnostics),
        Format::Json => streams::text(&to_json(&diagnostics))?,
    }
    Ok(verdict(&diagnostics, arguments.deny_warnings))
}

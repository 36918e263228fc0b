//! `nmgen check`.

use super::arguments::{CheckArguments, Format};
use super::{Done, output};
use crate::diagnostic::{Diagnostic, to_json};
use crate::error::Error;
use crate::{pipeline, source};

pub(super) fn run(arguments: &CheckArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.sources)?;
    let diagnostics = pipeline::diagnose(&hosts);
    match arguments.format {
        Format::Text => output::diagnostics(&diagnostics),
        Format::Json => output::text(&to_json(&diagnostics))?,
    }
    Ok(verdict(&diagnostics, arguments.deny_warnings))
}

/// An error, or a warning where they are denied, makes the input wrong.
pub(super) fn verdict(diagnostics: &[Diagnostic], deny_warnings: bool) -> Done {
    let wrong = |diagnostic: &Diagnostic| deny_warnings || diagnostic.is_error();
    if diagnostics.iter().any(wrong) { Done::InputWrong } else { Done::Success }
}

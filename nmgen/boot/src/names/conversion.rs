//! Converts this machine's document with the machine's names.

use std::path::Path;

use nmgen_core::convert;
use nmgen_core::profile::Configuration;
use nmgen_core::source::Host;
use nmgen_document::diagnostic::Diagnostics;

use crate::fault::Fault;
use crate::kernel_log::{Level, Log};
use crate::names::Names;

/// The rest is counted, so that warnings don't flood the console.
const MAX_WARNINGS: usize = 20;

/// Fails on the document's errors before its cards are waited for. The document has the machine's names by then, as far as
/// they are known: its own may be longer than the kernel's.
///
/// # Errors
/// [`Fault::Document`].
pub(crate) fn check(host: &Host, names: &Names) -> Result<(), Fault> {
    let mut host = host.clone();
    if let Some(document) = host.document_mut() {
        // A later card may end it.
        if names.twice(&document.root).is_some() {
            return Ok(());
        }
        names.apply(&mut document.root);
    }
    let (_, diagnostics) = convert::convert_alone(&host, Diagnostics::default());
    match diagnostics.has_errors() {
        true => Err(Fault::Document(diagnostics)),
        false => Ok(()),
    }
}

/// Gives the document the machine's names.
///
/// # Errors
/// [`Fault::NameTwice`].
pub(crate) fn apply(host: &mut Host, file: &Path, names: &Names) -> Result<(), Fault> {
    let Some(document) = host.document_mut() else { return Ok(()) };
    if let Some(twice) = names.twice(&document.root) {
        return Err(Fault::NameTwice { file: file.to_owned(), twice: Box::new(twice) });
    }
    names.apply(&mut document.root);
    // A map of cards has the source's names.
    host.nics.clear();
    Ok(())
}

/// The configuration of a document with the machine's names; warnings go to the log.
///
/// # Errors
/// [`Fault::Document`].
pub(crate) fn configuration(
    host: &Host,
    diagnostics: Diagnostics,
    log: &Log,
) -> Result<Configuration, Fault> {
    let (configuration, diagnostics) = convert::convert_alone(host, diagnostics);
    if diagnostics.has_errors() {
        return Err(Fault::Document(diagnostics));
    }
    for diagnostic in diagnostics.iter().take(MAX_WARNINGS) {
        log.say(Level::Warning, &diagnostic.one_line());
    }
    if let more @ 1.. = diagnostics.len().saturating_sub(MAX_WARNINGS) {
        log.say(Level::Warning, &format!("and {more} more, see `nmgen check`"));
    }
    Ok(configuration)
}

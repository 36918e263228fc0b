//! Converts this machine's document with the machine's names.

use std::path::Path;

use super::card_names::Names;
use super::fault::Fault;
use super::kernel_log::{Level, Log};
use crate::convert;
use crate::diagnostic::Diagnostics;
use crate::profile::Configuration;
use crate::source::{Host, Hosts};

/// The rest is counted, so that warnings don't flood the console.
const MAX_WARNINGS: usize = 20;

/// Fails early on errors that no name of a card can change.
///
/// # Errors
/// [`Fault::Document`].
pub(super) fn check(host: &Host) -> Result<(), Fault> {
    let hosts = vec![host.clone()];
    let diagnostics = convert::diagnose(&Hosts { hosts, ..Hosts::default() });
    match diagnostics.has_errors() {
        true => Err(Fault::Document(diagnostics)),
        false => Ok(()),
    }
}

/// Gives the document the machine's names.
///
/// # Errors
/// [`Fault::NameTwice`].
pub(super) fn apply(host: &mut Host, file: &Path, names: &Names) -> Result<(), Fault> {
    let Some(document) = &mut host.document else { return Ok(()) };
    if let Some(twice) = names.twice(&document.root) {
        return Err(Fault::NameTwice { file: file.to_owned(), twice });
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
pub(super) fn configuration(
    host: Host,
    diagnostics: Diagnostics,
    log: &Log,
) -> Result<Configuration, Fault> {
    let outcome = convert::convert(Hosts { hosts: vec![host], diagnostics, ..Hosts::default() });
    if outcome.has_errors() {
        return Err(Fault::Document(outcome.diagnostics));
    }
    for diagnostic in outcome.diagnostics.iter().take(MAX_WARNINGS) {
        log.say(Level::Warning, &diagnostic.one_line());
    }
    if let more @ 1.. = outcome.diagnostics.len().saturating_sub(MAX_WARNINGS) {
        log.say(Level::Warning, &format!("and {more} more, see `nmgen check`"));
    }
    let configuration = outcome.hosts.into_iter().next().map(|host| host.configuration);
    Ok(configuration.unwrap_or_default())
}

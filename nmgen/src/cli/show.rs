//! `nmgen show`.

use std::io::IsTerminal;

use super::arguments::ShowArguments;
use super::check::verdict;
use super::{Done, output};
use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::{document, show, source};

pub(super) fn run(arguments: &ShowArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.source)?;
    let mut diagnostics: Vec<Diagnostic> = hosts.diagnostics.clone();
    let style = output::style(std::io::stdout().is_terminal());
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        match document::parse(&host.source) {
            Ok(document) => trees.push(show::tree(host.name.as_deref(), &document, style)),
            Err(mut faults) => diagnostics.append(&mut faults),
        }
    }
    output::diagnostics(&diagnostics);
    output::text(&trees.join("\n"))?;
    Ok(verdict(&diagnostics, false))
}

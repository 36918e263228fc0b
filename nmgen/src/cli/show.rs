//! `nmgen show`.

use std::io::IsTerminal;

use super::arguments::ShowArguments;
use super::check::verdict;
use super::{Done, output};
use crate::error::Error;
use crate::{show, source};

pub(super) fn run(arguments: &ShowArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.sources)?;
    let style = output::style(std::io::stdout().is_terminal());
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        if let Some(document) = &host.document {
            trees.push(show::tree(host.name.as_deref(), document, style));
        }
    }
    output::diagnostics(&hosts.diagnostics);
    output::text(&trees.join("\n"))?;
    Ok(verdict(&hosts.diagnostics, false))
}

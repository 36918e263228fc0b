//! `nmgen show`.

use std::io::IsTerminal;

use super::arguments::ShowArguments;
use super::done::{Done, verdict};
use super::streams;
use crate::error::Error;
use crate::{show, source};

pub(super) fn run(arguments: &ShowArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.sources)?;
    let style = streams::style(std::io::stdout().is_terminal());
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        if let Some(document) = &host.document {
            trees.push(show::tree(host.name.as_deref(), document, style));
        }
    }
    streams::diagnostics(&hosts.diagnostics);
    streams::text(&trees.join("\n"))?;
    Ok(verdict(&hosts.diagnostics, false))
}

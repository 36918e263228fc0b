//! `nmgen show`.

use std::io::IsTerminal;

use super::arguments::ShowArguments;
use super::done::{Done, verdict};
use super::streams;
use crate::document::Document;
use crate::error::Error;
use crate::source::Host;
use crate::{show, source};

pub(super) fn run(arguments: &ShowArguments) -> Result<Done, Error> {
    let hosts = source::load(&arguments.sources)?;
    let style = streams::style(std::io::stdout().is_terminal());
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        if let Some(document) = &host.document {
            trees.push(show::tree(&title(host, document), document, style));
        }
    }
    streams::diagnostics(&hosts.diagnostics);
    streams::text(&trees.join("\n"))?;
    Ok(verdict(&hosts.diagnostics, false))
}

/// A policy is known by its name, a lone document by its file's.
fn title(host: &Host, document: &Document<'_>) -> String {
    match (host.name.as_deref(), host.policy.as_deref()) {
        (Some(name), None) => name.to_owned(),
        (Some(name), Some(policy)) => format!("{name}, policy {policy}"),
        (None, Some(policy)) => format!("policy {policy}"),
        (None, None) => document.source().name.to_string(),
    }
}

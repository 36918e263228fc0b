//! `nmgen show`.

use super::arguments::ShowArguments;
use super::done::{Done, verdict};
use super::streams::Streams;
use crate::diagnostic::Style;
use crate::error::Error;
use crate::source::Hosts;
use crate::{show, source};

pub(super) fn run(arguments: &ShowArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let mut hosts = source::load(&arguments.sources)?;
    arguments.selection.of(&arguments.sources).keep(&mut hosts);
    let hosts = arguments.drawing.staged(hosts);
    streams.diagnostics(&hosts.diagnostics);
    match arguments.drawing.picture(&hosts) {
        Some(picture) => streams.text(&picture)?,
        None => streams.text(&trees(&hosts, streams.output_style()))?,
    }
    Ok(verdict(&hosts.diagnostics, false))
}

fn trees(hosts: &Hosts, style: Style) -> String {
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        if let Some(document) = &host.document {
            trees.push(show::tree(&show::title(host, document), document, style));
        }
    }
    trees.join("\n")
}

//! `nmgen show`.

mod json;

use clap::{Args, ValueEnum};
use nmgen_core::show;
use nmgen_document::diagnostic::Style;
use nmgen_document::error::Error;
use nmgen_fleet::source::{self, Extent, Hosts};
use nmgen_fleet::{derive, page, picture};

use super::done::{Done, verdict};
use super::form::BridgeArguments;
use super::selection::SelectionArguments;
use super::source_help::SOURCE;
use super::streams::Streams;

/// The arguments of `show`.
#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    selection: SelectionArguments,
    /// The form of the stack
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Drawing::Text)]
    format: Drawing,
    #[command(flatten)]
    bridge: BridgeArguments,
    #[arg(help = SOURCE, value_name = "SOURCE", required = true)]
    sources: Vec<String>,
}

/// The forms of the stack by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Drawing {
    /// A tree, on a terminal
    Text,
    /// A picture
    Svg,
    /// A page for a browser, with findings and a search
    Html,
    /// One object with the interfaces of every host
    Json,
}

pub(super) fn run(arguments: &ShowArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let mut hosts = source::load_for(&arguments.sources, Extent::Shown)?;
    // A choice may be for a host that is not shown.
    let unknown = arguments.bridge.verify_hosts(&hosts, &arguments.sources);
    arguments.selection.of(&arguments.sources).keep(&mut hosts);
    if let Some(request) = arguments.bridge.request() {
        hosts = derive::both_stages(hosts, &request);
    }
    hosts.diagnostics.extend(unknown);
    streams.read(&hosts);
    // They are a field there, and the heading of a section.
    if !matches!(arguments.format, Drawing::Json | Drawing::Html) {
        hosts.name_clusters_if_several();
    }
    streams.diagnostics(&hosts.diagnostics);
    match arguments.format {
        Drawing::Text => streams.text(&trees(&hosts, streams.output_style()))?,
        Drawing::Json => streams.text(&json::json(&hosts.hosts))?,
        Drawing::Svg => streams.text(&picture::svg(&hosts.hosts))?,
        Drawing::Html => {
            let findings = nmgen_fleet::diagnose(&hosts);
            streams.text(&page::fleet(&hosts, &findings, &arguments.sources))?;
        }
    }
    Ok(verdict(&hosts.diagnostics, false))
}

fn trees(hosts: &Hosts, style: Style) -> String {
    let mut trees = Vec::new();
    for host in &hosts.hosts {
        if let Some(document) = host.document() {
            trees.push(show::tree(&show::title(host, document), document, style));
        }
    }
    trees.join("\n")
}

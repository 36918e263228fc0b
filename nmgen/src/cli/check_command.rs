//! `nmgen check`.

use std::collections::HashSet;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use nmgen_core::check::Purpose;
use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Severity};
use nmgen_document::error::Error;
use nmgen_document::format::{chain, counted};
use nmgen_fleet::Findings;
use nmgen_fleet::source::{self, Extent, Hosts};

use super::done::{Done, verdict};
use super::gate::GateArguments;
use super::selection::SelectionArguments;
use super::source_help::SOURCE;
use super::streams::Streams;
use super::{explain, github, json, sarif, short};

/// The arguments of `check`.
#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// The form of the findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    selection: SelectionArguments,
    #[command(flatten)]
    findings: FindingArguments,
    #[command(flatten)]
    gate: GateArguments,
    #[arg(help = SOURCE, value_name = "SOURCE", required = true)]
    sources: Vec<String>,
}

/// The forms of findings by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people, on standard error
    Text,
    /// A line a finding, as compilers write it, on standard output
    Short,
    /// One object, on standard output
    Json,
    /// SARIF 2.1.0 for code scanning, on standard output
    Sarif,
    /// Annotations of GitHub Actions, on standard output
    Github,
}

/// The findings that are told.
#[derive(Debug, Args)]
struct FindingArguments {
    /// The use of documents whose source does not tell it
    #[arg(long = "for", value_enum, value_name = "USE", default_value_t = Use::Profiles)]
    wanted: Use,
    /// Do not tell the warnings of this rule; repeatable
    #[arg(long, value_name = "RULE", value_parser = warning)]
    allow: Vec<String>,
}

/// The uses of a document by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Use {
    /// Profiles, made without the node: also tells fields without effect there
    Profiles,
    /// Application on the node, by dayone or by nmstate
    Node,
}

impl FindingArguments {
    fn of(&self, hosts: &Hosts) -> Findings {
        let purpose = match self.wanted {
            Use::Profiles => Purpose::Offline,
            Use::Node => Purpose::Apply,
        };
        let mut found = nmgen_fleet::findings(hosts, purpose, &nmgen_fleet::rules());
        let is_allowed = |name: &str| self.allow.iter().any(|allowed| allowed == name);
        found.told.retain(|diagnostic| diagnostic.is_error() || !is_allowed(diagnostic.rule.name));
        found
    }
}

fn warning(name: &str) -> Result<String, String> {
    let rules = nmgen_fleet::rules();
    match rules.iter().find(|rule| rule.name == name).map(|rule| rule.severity) {
        Some(Severity::Warning) => Ok(name.to_owned()),
        Some(Severity::Error) => Err("its findings are errors".to_owned()),
        None => Err(explain::unknown(name)),
    }
}

pub(super) fn run(arguments: &CheckArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let mut hosts = match source::load_for(&arguments.sources, Extent::Checked) {
        Ok(hosts) => hosts,
        Err(error) => {
            failure(arguments.format, &chain(&error), streams)?;
            return Err(error);
        }
    };
    arguments.gate.judge(&mut hosts);
    arguments.selection.of(&arguments.sources).keep(&mut hosts);
    streams.read(&hosts);
    let found = arguments.findings.of(&hosts);
    findings(arguments.format, &found, &hosts, streams)?;
    if arguments.format == Format::Text {
        if found.told.is_empty() {
            for line in success(&hosts, &arguments.sources) {
                streams.note(&line);
            }
        }
        if !found.suppressed.is_empty() {
            let warnings = counted(found.suppressed.len(), "warning");
            streams.note(&format!("{warnings} suppressed by comments in the sources"));
        }
    }
    Ok(verdict(&found.told, arguments.gate.deny_warnings))
}

/// The proof that the right thing was read: one line, or one a cluster.
fn success(hosts: &Hosts, sources: &[String]) -> Vec<String> {
    let of = |cluster: &Option<Arc<str>>| {
        let own = hosts.hosts.iter().filter(|host| host.cluster == *cluster);
        // A host may have two documents, one a stage.
        let names: HashSet<&str> = own.clone().filter_map(Host::short_name).collect();
        let nameless = own.filter(|host| host.name.is_none()).count();
        counted(names.len() + nameless, "host")
    };
    let mut clusters: Vec<&Option<Arc<str>>> = Vec::new();
    for host in &hosts.hosts {
        if !clusters.contains(&&host.cluster) {
            clusters.push(&host.cluster);
        }
    }
    let line = |cluster: &&Option<Arc<str>>| match cluster {
        Some(name) if clusters.len() > 1 => format!("{name}: {}, no errors", of(cluster)),
        _ => format!("{} in {}, no errors", of(cluster), sources.join(", ")),
    };
    clusters.iter().map(line).collect()
}

fn findings(
    format: Format,
    found: &Findings,
    hosts: &Hosts,
    streams: &mut Streams<'_>,
) -> Result<(), Error> {
    let diagnostics: &[Diagnostic] = &found.told;
    match format {
        Format::Text => {
            streams.diagnostics(diagnostics);
            Ok(())
        }
        Format::Short => streams.text(&short::lines(diagnostics)),
        Format::Json => {
            let names = hosts.cluster_names();
            streams.text(&json::object(diagnostics, None, |diagnostic| names.of(diagnostic)))
        }
        Format::Sarif => streams.text(&sarif::log(diagnostics, &found.suppressed, None)),
        Format::Github => streams.text(&github::annotations(diagnostics)),
    }
}

/// Tells programs that the sources cannot be read; people get it from the command's error.
fn failure(format: Format, error: &str, streams: &mut Streams<'_>) -> Result<(), Error> {
    match format {
        Format::Text | Format::Short => Ok(()),
        Format::Json => streams.text(&json::object(&[], Some(error), |_| None)),
        Format::Sarif => streams.text(&sarif::log(&[], &[], Some(error))),
        Format::Github => streams.text(&github::failure(error)),
    }
}

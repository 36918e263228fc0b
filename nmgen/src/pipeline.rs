//! Runs the stages over the hosts of a source.

use crate::check::{self, Purpose, fleet};
use crate::diagnostic::Diagnostic;
use crate::document::Document;
use crate::profile::{self, Configuration};
use crate::source::{Host, Hosts};

/// A host and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Converted {
    /// The host's name; `None` for a single document.
    pub host: Option<String>,
    /// Its profiles and files; empty where a diagnostic says why.
    pub configuration: Configuration,
}

/// The hosts' configurations and everything there is to say about the hosts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// In the order of the hosts.
    pub hosts: Vec<Converted>,
    /// In the order of files, lines and columns. With an error among them nothing should be written.
    pub diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// True when a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Checks documents that are to be applied on a node, without converting them.
pub fn check(hosts: &Hosts) -> Vec<Diagnostic> {
    run(hosts, Purpose::Apply, drop)
}

/// What [`convert`] would say, without keeping what the hosts become.
pub fn diagnose(hosts: &Hosts) -> Vec<Diagnostic> {
    run(hosts, Purpose::Offline, drop)
}

/// Checks and converts every host, and checks the hosts against each other.
pub fn convert(hosts: &Hosts) -> Outcome {
    let mut converted = Vec::with_capacity(hosts.hosts.len());
    let diagnostics = run(hosts, Purpose::Offline, |host| converted.push(host));
    Outcome { hosts: converted, diagnostics }
}

/// Hands over each host as soon as it is done: a fleet need not be in memory at once.
fn run(hosts: &Hosts, purpose: Purpose, mut done: impl FnMut(Converted)) -> Vec<Diagnostic> {
    let mut all = hosts.diagnostics.clone();
    let mut facts = Vec::new();
    for host in &hosts.hosts {
        let mut diagnostics = Vec::new();
        let configuration = one(host, purpose, &mut diagnostics, &mut facts);
        all.append(&mut diagnostics);
        done(Converted { host: host.name.clone(), configuration });
    }
    fleet::check(&facts, &mut all);
    all.sort_by_cached_key(Diagnostic::sort_key);
    all
}

fn one(
    host: &Host,
    purpose: Purpose,
    diagnostics: &mut Vec<Diagnostic>,
    facts: &mut Vec<fleet::Facts>,
) -> Configuration {
    let Some(document) = &host.document else { return Configuration::default() };
    let state = check::document(document, purpose, diagnostics);
    if host.name.is_some() {
        facts.push(fleet::facts(host, document));
    }
    match (state, purpose) {
        (Some(state), Purpose::Offline) => converted(document, state, diagnostics),
        (None, _) | (Some(_), Purpose::Apply) => Configuration::default(),
    }
}

fn converted(
    document: &Document<'_>,
    state: crate::state::State,
    diagnostics: &mut Vec<Diagnostic>,
) -> Configuration {
    // The same fault would be told twice, the second time in nmstate's words and without a place.
    let has_errors = diagnostics.iter().any(Diagnostic::is_error);
    let mut found = Vec::new();
    let configuration = match profile::convert(document, state, &mut found) {
        Ok(configuration) => configuration,
        Err(_) if has_errors => Configuration::default(),
        Err(refusal) => {
            found.extend(check::refusal(document, &refusal));
            Configuration::default()
        }
    };
    diagnostics
        .extend(found.into_iter().filter(|diagnostic| !(has_errors && diagnostic.is_error())));
    configuration
}

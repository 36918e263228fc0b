//! Runs the stages over the hosts of the sources.

use std::collections::{HashMap, HashSet};
use std::convert::identity;

use nmgen_core::check::Purpose;
use nmgen_core::convert::{self, Checked};
use nmgen_core::profile::Configuration;
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostics, Rule};

use crate::allow::{self, Findings};
use crate::check::{self, Compared};
use crate::parallel::each;
use crate::source::{Cluster, Hosts};
use crate::{follows, hints};

/// A host and its conversion.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    /// The host.
    pub host: Host,
    /// Profiles and files; empty after an error, and for forms that carry the document itself.
    pub configuration: Configuration,
}

/// The hosts' configurations, and the diagnostics of all hosts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outcome {
    /// In the order of the hosts.
    pub hosts: Vec<Converted>,
    /// Sorted by file, line and column. After an error nothing should be written.
    pub diagnostics: Diagnostics,
    pub(crate) clusters: Vec<Cluster>,
}

impl Outcome {
    /// True when a diagnostic is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.has_errors()
    }
}

/// Checks documents for application on a node, without converting them.
pub fn check(hosts: &Hosts) -> Diagnostics {
    run(hosts, |_| Purpose::Apply, drop).0.told
}

/// The diagnostics of [`convert()`], without its configurations.
pub fn diagnose(hosts: &Hosts) -> Diagnostics {
    run(hosts, |host| purpose(host, Purpose::Offline), drop).0.told
}

/// The diagnostics of documents for a program that called `nmstatectl validate`.
pub fn validate(hosts: &Hosts) -> Diagnostics {
    run(hosts, |host| purpose(host, Purpose::HandedOn), drop).0.told
}

/// The diagnostics of documents that are used for `wanted` where their source does not tell it, those that the sources' comments
/// allow, and those about the comments; `rules` are all that there are.
pub fn findings(hosts: &Hosts, wanted: Purpose, rules: &[Rule]) -> Findings {
    let (findings, _) = run(hosts, |host| purpose(host, wanted), drop);
    // On a node some rules have no findings.
    let is_whole = wanted == Purpose::Offline && !hosts.is_part;
    findings.with_comments(&hosts.allowances, rules, is_whole)
}

/// Checks and converts every host to connection profiles, and checks the hosts against each other.
pub fn convert(hosts: Hosts) -> Outcome {
    convert_at(hosts, Stage::Early, Purpose::Offline)
}

/// Checks every host, and converts one document of each. If sources have both an early document and
/// one for the running node, `stage` decides; the converted document is checked for the purpose
/// `wanted`.
pub(crate) fn convert_at(hosts: Hosts, stage: Stage, wanted: Purpose) -> Outcome {
    let is_chosen = chosen(&hosts.hosts, stage);
    // A document for the node is converted if the host has no other.
    let purpose = |host: &Host| match is_chosen(host) {
        true => wanted,
        false => purpose(host, wanted),
    };
    let (findings, configurations) = run(&hosts, purpose, identity);
    let (clusters, number) = (hosts.clusters.clone(), hosts.hosts.len());
    let is_chosen: Vec<bool> = hosts.hosts.iter().map(is_chosen).collect();
    let hosts = hosts
        .hosts
        .into_iter()
        .zip(configurations)
        .zip(is_chosen)
        .filter(|((host, _), is_chosen)| *is_chosen && host.document().is_some())
        .map(|((host, configuration), _)| Converted { host, configuration });
    let mut seen = HashSet::new();
    // Two files may describe one host alike; each role may have a document for all its nodes.
    let mut is_first = |host: &Host| match host.is_cluster() {
        true => true,
        false => host
            .name
            .clone()
            .is_none_or(|name| seen.insert((host.cluster.clone(), name, host.policy.clone()))),
    };
    // A list that grows takes its room twice while it is moved.
    let mut converted = Vec::with_capacity(number);
    converted.extend(hosts.filter(|converted| is_first(&converted.host)));
    Outcome { hosts: converted, diagnostics: findings.told, clusters }
}

/// The purpose of a document, from its source, else from the form.
fn purpose(host: &Host, otherwise: Purpose) -> Purpose {
    let is_policy = || host.document().is_some_and(nmgen_core::check::is_policy);
    match (host.stage, otherwise) {
        (Stage::Node, _) => Purpose::Apply,
        // Only a node can resolve it.
        (Stage::Any, Purpose::Offline) if is_policy() => Purpose::Apply,
        (Stage::Early | Stage::Any, _) => otherwise,
    }
}

/// One document per host: the one for `stage`, else one for any stage, else the other; of these, one that is no policy.
fn chosen(hosts: &[Host], stage: Stage) -> impl Fn(&Host) -> bool {
    let rank =
        move |host: &Host| (host.stage == stage, host.stage == Stage::Any, host.policy.is_none());
    let mut best = HashMap::new();
    for host in hosts.iter().filter(|host| host.document().is_some()) {
        let Some(name) = host.name.clone() else { continue };
        let known = best.entry((host.cluster.clone(), name)).or_insert(rank(host));
        *known = rank(host).max(*known);
    }
    let id = |host: &Host| Some((host.cluster.clone(), host.name.clone()?));
    move |host: &Host| match id(host).and_then(|id| best.get(&id)) {
        Some(best) => rank(host) == *best,
        None => true,
    }
}

/// The findings of all hosts, and what `keep` keeps of each host's configuration.
fn run<K: Send>(
    hosts: &Hosts,
    purpose: impl Fn(&Host) -> Purpose + Sync,
    keep: impl Fn(Configuration) -> K + Sync,
) -> (Findings, Vec<K>) {
    let mut all = Diagnostics::default();
    let mut compared = Vec::with_capacity(hosts.hosts.len());
    let mut kept = Vec::with_capacity(hosts.hosts.len());
    let done = each(&hosts.hosts, |host| {
        let purpose = purpose(host);
        let Checked { mut diagnostics, facts, configuration } = convert::convert(host, purpose);
        check::document::check(host, &mut diagnostics);
        let has_errors = diagnostics.has_errors();
        let stands_alone = !has_errors;
        if let Some(document) = host.document() {
            follows::within(document, &mut diagnostics);
        }
        // Profiles are made without the node, which has the rest.
        if host.policy.is_some() && purpose == Purpose::Apply {
            nmgen_core::check::of_part(&mut diagnostics);
        }
        let compared = Compared::new(host, facts, purpose, stands_alone);
        (diagnostics, has_errors, compared, keep(configuration))
    });
    let mut faulty = Vec::with_capacity(hosts.hosts.len());
    for (diagnostics, has_errors, found, configuration) in done {
        all.extend(diagnostics);
        faulty.push(has_errors);
        compared.push(found);
        kept.push(configuration);
    }
    let of_documents = all.len();
    check::check(hosts, &compared, &faulty, &mut all);
    follows::between(&hosts.hosts, &faulty, of_documents, &mut all);
    let mut diagnostics = hosts.diagnostics.clone();
    diagnostics.merge(all);
    (allow::apply(hints::add(diagnostics), &hosts.allowances), kept)
}

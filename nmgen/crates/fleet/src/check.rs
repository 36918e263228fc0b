//! Checks across all hosts of all sources: against each other, and against the cluster that they are installed as: its
//! addresses, its roles, the source's map of network cards.

mod alike;
mod alone;
mod cluster;
mod declared;
mod majority;
mod map;
mod member;
mod network;
mod replicas;
mod roles;
pub(crate) mod running_node;
mod stages;
mod vlan_name;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use nmgen_core::check::{At, Facts};
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};

pub(crate) use self::member::Compared;
use self::member::Member;
use crate::source::{HOST_FILE_NAME, Hosts, ManagementController, NAME_HELP, is_usable_name};

rules! {
    error ADDRESS_ON_TWO_HOSTS = "address-on-two-hosts";
    error MAC_ON_TWO_HOSTS = "mac-on-two-hosts";
    warning BMC_ON_TWO_HOSTS = "bmc-on-two-hosts";
    warning HOST_NAME_FORM = "host-name-form";
}

pub(crate) fn rules() -> Vec<Rule> {
    [
        RULES,
        declared::RULES,
        running_node::RULES,
        replicas::RULES,
        roles::RULES,
        stages::RULES,
        alike::RULES,
        alone::RULES,
        cluster::RULES,
        map::RULES,
        vlan_name::RULES,
    ]
    .concat()
}

/// `compared`: one for each host, in the same order.
pub(crate) fn check(sources: &Hosts, compared: &[Compared<'_>], diagnostics: &mut Diagnostics) {
    let hosts = &sources.hosts;
    diagnostics.extend(hosts.iter().filter_map(unusable_name));
    diagnostics.extend(hosts.iter().filter_map(refused_name));
    one_controller_each(&sources.management_controllers, diagnostics);
    let all: Vec<Member<'_>> =
        hosts.iter().zip(compared).map(|(host, compared)| Member::new(host, compared)).collect();
    let with_name = all.iter().copied().filter(|member| member.host.name.is_some());
    let (cluster, named): (Vec<Member<'_>>, Vec<Member<'_>>) =
        with_name.partition(|member| member.host.is_cluster());
    for member in &cluster {
        nmgen_core::check::cluster(member.host, member.facts, diagnostics);
    }
    // Hosts of an installation without a name; a lone document may be another version of some host's.
    let unnamed = |member: &Member<'_>| member.host.name.is_none() && member.host.is_machine;
    let unnamed = all.iter().copied().filter(unnamed);
    let machines: Vec<Member<'_>> = named.iter().copied().chain(unnamed).collect();
    twice(&machines, ADDRESS_ON_TWO_HOSTS, |facts| &facts.addresses, diagnostics);
    twice(&machines, MAC_ON_TWO_HOSTS, |facts| &facts.macs, diagnostics);
    declared::check(&named, diagnostics);
    declared::cluster_twice(&cluster, diagnostics);
    // After an error an unread part may hold the missing host.
    if !sources.diagnostics.has_errors() {
        replicas::check(hosts, &sources.replicas, diagnostics);
    }
    running_node::written(hosts, &sources.cluster, diagnostics);
    roles::check(&named, diagnostics);
    stages::check(&named, &sources.cluster, diagnostics);
    for host in hosts {
        map::check(host, &sources.cluster, diagnostics);
        vlan_name::check(host, diagnostics);
    }
    cluster::check(sources, &all, diagnostics);
    let mut alike = Diagnostics::default();
    alike::check(&named, &mut alike);
    // An error may be the reason why something is missing.
    if !sources.diagnostics.has_errors() && !diagnostics.has_errors() {
        let early = named.iter().filter(|member| member.host.stage == Stage::Early);
        let early: HashSet<Option<&str>> = early.map(Member::name).collect();
        for member in &all {
            // The network of the early document is there when the other one is applied.
            if member.host.stage == Stage::Early || !early.contains(&member.name()) {
                alone::check(member, &alike, diagnostics);
            }
        }
    }
    diagnostics.extend(alike);
}

/// Every form of output would name a file or a directory after the host.
fn unusable_name(host: &Host) -> Option<Diagnostic> {
    let name = host.name.as_deref().filter(|name| !is_usable_name(name))?;
    let message = format!("\"{}\" is not a host name", name.escape_debug());
    Some(Diagnostic::new(HOST_FILE_NAME, message, host.place.clone()).help(NAME_HELP))
}

/// Kubernetes has names in lower case only (RFC 1123): BareMetalHost, Node and each object that is named after the host.
fn refused_name(host: &Host) -> Option<Diagnostic> {
    let is_bad = |name: &&str| name.chars().any(|it| it.is_ascii_uppercase() || it == '_');
    let name = host.name.as_deref().filter(|_| host.is_machine).filter(is_bad)?;
    let message = format!("\"{}\" is no name of a Kubernetes object", name.escape_debug());
    let help = "use lower-case letters, digits, hyphens and dots";
    Some(Diagnostic::new(HOST_NAME_FORM, message, host.place.clone()).help(help))
}

/// By one controller, the installer would switch two hosts on and off as one.
fn one_controller_each(controllers: &[ManagementController], diagnostics: &mut Diagnostics) {
    let mut first: HashMap<&str, &ManagementController> = HashMap::new();
    for controller in controllers {
        let Some(other) = first.insert(&controller.address, controller) else { continue };
        if other.host.is_none() || other.host != controller.host {
            let name = other.host.as_deref().unwrap_or("another host");
            let message = format!(
                "the management controller {} is also that of {name} ({})",
                controller.address.escape_debug(),
                other.place.shown()
            );
            diagnostics.push(Diagnostic::new(BMC_ON_TWO_HOSTS, message, controller.place.clone()));
        }
    }
}

fn twice<'h, V: Eq + Hash + Display>(
    members: &[Member<'h>],
    rule: Rule,
    values: for<'f> fn(&'f Facts<'h>) -> &'f [(V, At<'h>)],
    diagnostics: &mut Diagnostics,
) {
    let mut first: HashMap<&V, (&Member<'_>, At<'_>)> = HashMap::new();
    for member in members {
        for (value, at) in values(member.facts) {
            match first.get(value) {
                None => {
                    first.insert(value, (member, *at));
                }
                Some((other, _)) if other.is_same_host(member) => {}
                Some((other, first)) => {
                    let first = other.facts.place(*first).shown();
                    let other = other.name().unwrap_or("another host");
                    let message = format!("{value} is also on {other} ({first})");
                    diagnostics.push(Diagnostic::new(rule, message, member.facts.place(*at)));
                }
            }
        }
    }
}

//! Checks across all hosts of all sources: against each other, and against the cluster that they are installed as: its
//! addresses, its roles, the source's map of network cards.

mod alike;
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

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

use nmgen_core::check::{At, Facts};
use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};

pub(crate) use self::member::Compared;
use self::member::Member;
use crate::source::{HOST_FILE_NAME, Hosts, NAME_HELP, is_usable_name};

rules! {
    error ADDRESS_ON_TWO_HOSTS = "address-on-two-hosts";
    error MAC_ON_TWO_HOSTS = "mac-on-two-hosts";
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
        map::check(host, diagnostics);
        vlan_name::check(host, diagnostics);
    }
    cluster::check(sources, &all, diagnostics);
    alike::check(&named, diagnostics);
}

/// Every form of output would name a file or a directory after the host.
fn unusable_name(host: &Host) -> Option<Diagnostic> {
    let name = host.name.as_deref().filter(|name| !is_usable_name(name))?;
    let message = format!("\"{}\" is not a host name", name.escape_debug());
    Some(Diagnostic::new(HOST_FILE_NAME, message, host.place.clone()).help(NAME_HELP))
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

//! Hosts of a fleet against each other, and against the cluster that they are installed as: its addresses, its roles, the source's
//! map of network cards.

mod alike;
pub(crate) mod bridge;
mod cluster;
mod majority;
mod map;
mod replicas;
mod roles;
mod stages;
mod vlan_name;

use super::facts::Facts;
use super::member::Member;
use crate::diagnostic::{Diagnostics, Rule};
use crate::source::Hosts;

pub(super) fn rules() -> Vec<Rule> {
    [
        bridge::RULES,
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

/// `facts`: one for each host, in the same order; `named`: the hosts with a name.
pub(super) fn check(
    sources: &Hosts,
    facts: &[Facts<'_>],
    named: &[Member<'_>],
    diagnostics: &mut Diagnostics,
) {
    let hosts = &sources.hosts;
    // After an error an unread part may hold the missing host.
    if !sources.diagnostics.has_errors() {
        replicas::check(hosts, &sources.replicas, diagnostics);
    }
    bridge::check(hosts, &sources.cluster, diagnostics);
    roles::check(named, diagnostics);
    stages::check(named, &sources.cluster, diagnostics);
    let all: Vec<Member<'_>> =
        hosts.iter().zip(facts).map(|(host, facts)| Member { host, facts }).collect();
    for member in &all {
        map::check(member.host, diagnostics);
        vlan_name::check(member.host, diagnostics);
    }
    cluster::check(sources, &all, diagnostics);
    alike::check(named, diagnostics);
}

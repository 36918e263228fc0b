//! Hosts against the cluster that they are installed as: its addresses, its roles, the source's map of network cards.

mod alike;
mod cluster;
mod map;
mod vlan_name;

use super::facts::Facts;
use super::member::Member;
use crate::diagnostic::{Diagnostics, Rule};
use crate::source::Hosts;

pub(super) fn rules() -> Vec<Rule> {
    [alike::RULES, cluster::RULES, map::RULES, vlan_name::RULES].concat()
}

/// `facts`: one for each host, in the same order; `named`: the hosts with a name.
pub(super) fn check(
    sources: &Hosts,
    facts: &[Facts],
    named: &[Member<'_>],
    diagnostics: &mut Diagnostics,
) {
    let all: Vec<Member<'_>> =
        sources.hosts.iter().zip(facts).map(|(host, facts)| Member { host, facts }).collect();
    for member in &all {
        map::check(member.host, diagnostics);
        vlan_name::check(member.host, diagnostics);
    }
    cluster::check(sources, &all, diagnostics);
    alike::check(named, diagnostics);
}

//! Checks across all hosts of all sources.

mod declared;
mod facts;
#[cfg(feature = "pipelines")]
pub(crate) mod fleet;
#[cfg(not(feature = "pipelines"))]
#[path = "hosts/no_fleet.rs"]
mod fleet;
mod member;
#[cfg(feature = "pipelines")]
mod network;
#[cfg(not(feature = "pipelines"))]
#[path = "hosts/no_network.rs"]
mod network;

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;

use self::facts::At;
pub(crate) use self::facts::{Facts, facts};
use self::member::Member;
use crate::diagnostic::{Diagnostic, Diagnostics, Rule, rules};
use crate::source::Hosts;

rules! {
    pub(crate) error CLUSTER_STATIC_ADDRESS = "cluster-static-address";
    error ADDRESS_ON_TWO_HOSTS = "address-on-two-hosts";
    error MAC_ON_TWO_HOSTS = "mac-on-two-hosts";
}

pub(super) fn rules() -> Vec<Rule> {
    [RULES, declared::RULES, &fleet::rules()].concat()
}

/// `facts`: one for each host, in the same order.
pub(crate) fn check(sources: &Hosts, facts: &[Facts<'_>], diagnostics: &mut Diagnostics) {
    let hosts = &sources.hosts;
    let members: Vec<Member<'_>> = hosts
        .iter()
        .zip(facts)
        .map(|(host, facts)| Member { host, facts })
        .filter(|member| member.host.name.is_some())
        .collect();
    let (cluster, named): (Vec<Member<'_>>, Vec<Member<'_>>) =
        members.into_iter().partition(|member| member.host.is_cluster());
    for Member { facts, .. } in &cluster {
        for (ip, at) in &facts.addresses {
            diagnostics.push(
                Diagnostic::new(
                    CLUSTER_STATIC_ADDRESS,
                    format!("every node without a host file would get {ip}"),
                    facts.place(*at),
                )
                .help("put static addresses into <hostname>.yml, or use dhcp: true here"),
            );
        }
    }
    // Hosts of an installation without a name; a lone document may be another version of some host's.
    let unnamed =
        hosts.iter().zip(facts).filter(|(host, _)| host.name.is_none() && host.is_machine);
    let unnamed = unnamed.map(|(host, facts)| Member { host, facts });
    let all: Vec<Member<'_>> = named.iter().copied().chain(unnamed).collect();
    twice(&all, ADDRESS_ON_TWO_HOSTS, |facts| &facts.addresses, diagnostics);
    twice(&all, MAC_ON_TWO_HOSTS, |facts| &facts.macs, diagnostics);
    declared::check(&named, diagnostics);
    declared::cluster_twice(&cluster, diagnostics);
    fleet::check(sources, facts, &named, diagnostics);
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

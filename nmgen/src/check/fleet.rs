//! Checks across all hosts of all sources.

mod declared;
mod facts;
mod replicas;
mod roles;
mod stages;

use std::collections::HashMap;

pub(crate) use self::facts::{Facts, facts};
use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::source::{Host, Hosts};

const CLUSTER_STATIC_ADDRESS: Rule = Rule::error("cluster-static-address");
const ADDRESS_ON_TWO_HOSTS: Rule = Rule::error("address-on-two-hosts");
const MAC_ON_TWO_HOSTS: Rule = Rule::error("mac-on-two-hosts");

pub(super) fn rules() -> Vec<Rule> {
    let twice = [CLUSTER_STATIC_ADDRESS, ADDRESS_ON_TWO_HOSTS, MAC_ON_TWO_HOSTS];
    [&twice, declared::RULES, replicas::RULES, roles::RULES, stages::RULES].concat()
}

/// A host of the fleet and what it contributes.
#[derive(Clone, Copy)]
struct Member<'h> {
    host: &'h Host,
    facts: &'h Facts,
}

impl<'h> Member<'h> {
    /// Up to the first dot: sources differ in whether they have the domain.
    fn name(&self) -> Option<&'h str> {
        let name = self.host.name.as_deref()?;
        name.split('.').next()
    }

    fn is_same_host(&self, other: &Self) -> bool {
        match (self.name(), other.name()) {
            (None, None) => std::ptr::eq(self.host, other.host),
            (own, other) => own == other,
        }
    }
}

/// `facts` are those of the hosts, in their order.
pub(crate) fn check(sources: &Hosts, facts: &[Facts], diagnostics: &mut Vec<Diagnostic>) {
    let hosts = &sources.hosts;
    // What could not be read may have had the host that seems to be missing.
    if !sources.diagnostics.iter().any(Diagnostic::is_error) {
        replicas::check(hosts, &sources.replicas, diagnostics);
    }
    let members: Vec<Member<'_>> = hosts
        .iter()
        .zip(facts)
        .map(|(host, facts)| Member { host, facts })
        .filter(|member| member.host.name.is_some())
        .collect();
    let (cluster, named): (Vec<Member<'_>>, Vec<Member<'_>>) =
        members.into_iter().partition(|member| member.host.is_cluster());
    for (ip, place) in cluster.iter().flat_map(|member| &member.facts.addresses) {
        diagnostics.push(
            Diagnostic::new(
                CLUSTER_STATIC_ADDRESS,
                format!("every node without a host file would get {ip}"),
                place.clone(),
            )
            .help("put static addresses into <hostname>.yml, or use dhcp: true here"),
        );
    }
    // Of an installation; a document alone may be another version of the same host's.
    let unnamed =
        hosts.iter().zip(facts).filter(|(host, _)| host.name.is_none() && host.is_machine);
    let unnamed = unnamed.map(|(host, facts)| Member { host, facts });
    let all: Vec<Member<'_>> = named.iter().copied().chain(unnamed).collect();
    twice(&all, ADDRESS_ON_TWO_HOSTS, |facts| &facts.addresses, diagnostics);
    twice(&all, MAC_ON_TWO_HOSTS, |facts| &facts.macs, diagnostics);
    declared::check(&named, diagnostics);
    declared::cluster_twice(&cluster, diagnostics);
    roles::check(&named, diagnostics);
    stages::check(&named, diagnostics);
}

fn twice(
    members: &[Member<'_>],
    rule: Rule,
    values: fn(&Facts) -> &[(String, Place)],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut first: HashMap<&str, (&Member<'_>, &Place)> = HashMap::new();
    for member in members {
        for (value, place) in values(member.facts) {
            match first.get(value.as_str()) {
                None => {
                    first.insert(value, (member, place));
                }
                Some((other, _)) if other.is_same_host(member) => {}
                Some((other, at)) => {
                    let other = other.name().unwrap_or("another host");
                    let message = format!("{value} is also on {other} ({})", at.shown());
                    diagnostics.push(Diagnostic::new(rule, message, place.clone()));
                }
            }
        }
    }
}

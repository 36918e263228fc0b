//! Whether the roles of an install-config have enough hosts.
//!
//! The agent-based installer only warns of too few hosts, as machines may join unlisted; the
//! installer that provisions them itself refuses to begin (openshift/installer,
//! `pkg/types/baremetal/validation`). The file does not say which of the two reads it: hence a
//! warning.

use std::collections::{HashMap, HashSet};

use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostics, rules};

use crate::source::Replicas;

rules! {
    warning ROLE_WITHOUT_HOSTS = "role-without-hosts";
    warning FEWER_HOSTS = "fewer-hosts-than-replicas";
}

const HELP: &str = "the agent-based installer lets the others use DHCP; the provisioning installer refuses too few";

/// Without any host this check says nothing: another rule reports that.
pub(super) fn check(hosts: &[&Host], wanted: &[Replicas], diagnostics: &mut Diagnostics) {
    let serves_all = hosts.iter().any(|host| host.is_cluster() && host.role.is_none());
    if hosts.is_empty() || wanted.is_empty() || serves_all {
        return;
    }
    let served: HashSet<&str> =
        hosts.iter().filter(|host| host.is_cluster()).filter_map(|host| role(host)).collect();
    let (counts, mut anyone) = count(hosts, wanted);
    for Replicas { role, count, place } in of_each_role(wanted) {
        let known = counts.get(usual(role)).copied().unwrap_or_default();
        if known >= *count || served.contains(usual(role)) {
            continue;
        }
        let taken = anyone.min(*count - known);
        anyone -= taken;
        let found = known + taken;
        let hosts = if *count == 1 { "host" } else { "hosts" };
        let (rule, rest) = match found {
            0 => (ROLE_WITHOUT_HOSTS, "no source has any".to_owned()),
            _ if found < *count => (FEWER_HOSTS, format!("the sources have {found}")),
            _ => continue,
        };
        let message = format!("role {role} needs {count} {hosts}; {rest}");
        diagnostics.add(rule, place.clone(), message, HELP);
    }
}

/// The number of hosts with each wanted role, and of those with none of them. Any source may give a host's role.
fn count<'h>(hosts: &[&'h Host], wanted: &[Replicas]) -> (HashMap<&'h str, u64>, u64) {
    let mut named: HashMap<&str, Option<&str>> = HashMap::new();
    let mut roles = Vec::new();
    for host in hosts.iter().filter(|host| !host.is_cluster()) {
        match host.short_name() {
            Some(name) => {
                let known = named.entry(name).or_default();
                *known = known.or(role(host));
            }
            None => roles.push(role(host)),
        }
    }
    let (mut counts, mut anyone) = (HashMap::new(), 0);
    for role in named.into_values().chain(roles) {
        match role {
            Some(role) if wanted.iter().any(|replicas| usual(&replicas.role) == role) => {
                *counts.entry(role).or_default() += 1;
            }
            // A misspelt role may be any.
            _ => anyone += 1,
        }
    }
    (counts, anyone)
}

/// The larger number of replicas of two install-configs.
fn of_each_role(wanted: &[Replicas]) -> Vec<&Replicas> {
    let mut found: Vec<&Replicas> = Vec::new();
    for replicas in wanted {
        match found.iter_mut().find(|other| usual(&other.role) == usual(&replicas.role)) {
            Some(other) if other.count < replicas.count => *other = replicas,
            Some(_) => {}
            None => found.push(replicas),
        }
    }
    found
}

fn role(host: &Host) -> Option<&str> {
    host.role.as_deref().map(usual)
}

/// Nodes have two names for the control plane's role.
fn usual(role: &str) -> &str {
    if role == "control-plane" { "master" } else { role }
}

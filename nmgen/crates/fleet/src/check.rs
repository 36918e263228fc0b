//! Checks across the hosts of a cluster: against each other, and against the cluster that they are installed as: its addresses, its
//! roles, the source's map of network cards; and across clusters what the whole site has once.

mod across;
mod alone;
mod bridge_uplink;
mod cluster;
mod declared;
pub(crate) mod document;
mod dropped;
mod gateway;
mod hardware;
mod machine_network;
mod map;
mod member;
mod network;
mod node_state;
mod os_stream;
mod ovn_bridge;
mod replicas;
mod role_facts;
mod roles;
mod route_network;
mod route_number;
pub(crate) mod running_node;
mod search_domain;
mod stages;
mod veth_peer;
mod vlan_name;

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;
use std::path::Path;

use nmgen_core::check::{At, Facts};
use nmgen_core::node::short_host_name;
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};

pub(crate) use self::member::Compared;
use self::member::Member;
use crate::source::{Cluster, HOST_FILE_NAME, Hosts, NAME_HELP, is_usable_name};

rules! {
    error ADDRESS_ON_TWO_HOSTS = "address-on-two-hosts";
    error MAC_ON_TWO_HOSTS = "mac-on-two-hosts";
    warning HOST_NAME_FORM = "host-name-form";
}

pub(crate) fn rules() -> Vec<Rule> {
    [
        RULES,
        across::RULES,
        declared::RULES,
        gateway::RULES,
        hardware::RULES,
        node_state::RULES,
        running_node::RULES,
        replicas::RULES,
        stages::RULES,
        role_facts::RULES,
        alone::RULES,
        cluster::RULES,
        machine_network::RULES,
        map::RULES,
        os_stream::RULES,
        vlan_name::RULES,
        &document::rules(),
    ]
    .concat()
}

/// The checked hosts of a cluster.
struct Scope<'h> {
    cluster: &'h Cluster,
    /// With and without a name.
    all: Vec<Member<'h>>,
    /// A part of the cluster's sources could not be read.
    is_misread: bool,
    has_errors: bool,
}

/// `compared`: one for each host, in the same order; so `has_errors`, true for a document with an error.
pub(crate) fn check(
    sources: &Hosts,
    compared: &[Compared<'_>],
    has_errors: &[bool],
    diagnostics: &mut Diagnostics,
) {
    let hosts = &sources.hosts;
    diagnostics.extend(hosts.iter().filter_map(unusable_name));
    diagnostics.extend(hosts.iter().filter_map(refused_name));
    let told = across::controllers(&sources.management_controllers, &sources.clusters, diagnostics);
    let all: Vec<Member<'_>> =
        hosts.iter().zip(compared).map(|(host, compared)| Member::new(host, compared)).collect();
    if sources.has_several_clusters() {
        across::hosts(&all, &sources.clusters, told, diagnostics);
    }
    for scope in scopes(sources, &all, has_errors) {
        scope.check(diagnostics);
    }
    hardware::check(sources, diagnostics);
    node_state::check(sources, diagnostics);
}

/// In the order of their first hosts, then those without hosts.
fn scopes<'h>(sources: &'h Hosts, all: &[Member<'h>], has_errors: &[bool]) -> Vec<Scope<'h>> {
    let mut scopes: Vec<Scope<'h>> = Vec::new();
    let mut places: HashMap<Option<&str>, usize> = HashMap::new();
    let new = |cluster: &'h Cluster| Scope {
        cluster,
        all: Vec::new(),
        is_misread: sources.is_misread(cluster),
        has_errors: false,
    };
    for (member, has_errors) in all.iter().zip(has_errors) {
        let place = *places.entry(member.host.cluster.as_deref()).or_insert_with(|| {
            scopes.push(new(sources.cluster_of(member.host)));
            scopes.len() - 1
        });
        scopes[place].all.push(*member);
        scopes[place].has_errors |= has_errors;
    }
    let is_new = |cluster: &&Cluster| {
        !places.contains_key(&cluster.name.as_deref())
            && (sources.clusters.len() > 1 || all.is_empty())
    };
    scopes.extend(sources.clusters.iter().filter(is_new).map(new));
    scopes
}

impl Scope<'_> {
    fn check(&self, diagnostics: &mut Diagnostics) {
        let mut found = Diagnostics::default();
        self.compare(&mut found);
        let named: Vec<Member<'_>> = self.named(false).collect();
        let mut alike = Diagnostics::default();
        role_facts::check(&named, &mut alike);
        // An error may be the reason why something is missing.
        if !self.is_misread && !self.has_errors && !found.has_errors() {
            let early = named.iter().filter(|member| member.host.stage == Stage::Early);
            let early: HashSet<Option<&str>> = early.map(Member::name).collect();
            for member in &self.all {
                // The network of the early document is there when the other one is applied.
                if member.host.stage == Stage::Early || !early.contains(&member.name()) {
                    alone::check(member, &alike, &mut found);
                }
            }
        }
        diagnostics.extend(found);
        diagnostics.extend(alike);
    }

    /// Documents with a host's name, or those of all nodes of the cluster.
    fn named(&self, is_cluster: bool) -> impl Iterator<Item = Member<'_>> {
        let members = self.all.iter().copied();
        members.filter(move |member| {
            member.host.name.is_some() && member.host.is_cluster() == is_cluster
        })
    }

    fn compare(&self, diagnostics: &mut Diagnostics) {
        let hosts: Vec<&Host> = self.all.iter().map(|member| member.host).collect();
        let cluster: Vec<Member<'_>> = self.named(true).collect();
        let named: Vec<Member<'_>> = self.named(false).collect();
        for member in &cluster {
            nmgen_core::check::cluster(member.host, member.facts, diagnostics);
        }
        // Hosts of an installation without a name; a lone document may be another version of some host's.
        let unnamed = |member: &Member<'_>| member.host.name.is_none() && member.host.is_machine;
        let unnamed = self.all.iter().copied().filter(unnamed);
        let machines: Vec<Member<'_>> = named.iter().copied().chain(unnamed).collect();
        twice(&machines, ADDRESS_ON_TWO_HOSTS, |facts| &facts.addresses, diagnostics);
        twice(&machines, MAC_ON_TWO_HOSTS, |facts| &facts.macs, diagnostics);
        declared::check(&named, diagnostics);
        declared::named_twice(&self.all, diagnostics);
        gateway::check(&self.all, diagnostics);
        declared::cluster_twice(&cluster, diagnostics);
        // After an error an unread part may hold the missing host, or it has another one's name.
        if !self.is_misread
            && !diagnostics.iter().any(|finding| finding.rule == declared::HOST_TWICE)
        {
            replicas::check(&hosts, &self.cluster.replicas, diagnostics);
        }
        running_node::written(&hosts, self.cluster, diagnostics);
        stages::check(&named, self.cluster, diagnostics);
        for host in hosts {
            map::check(host, self.cluster, diagnostics);
            os_stream::check(host, self.cluster, diagnostics);
            vlan_name::check(host, diagnostics);
        }
        let is_faulty = self.is_misread || self.has_errors || diagnostics.has_errors();
        cluster::check(self.cluster, &self.all, self.is_misread, is_faulty, diagnostics);
    }
}

/// Every form of output would name a file or a directory after the host.
fn unusable_name(host: &Host) -> Option<Diagnostic> {
    let name = host.name.as_deref().filter(|name| !is_usable_name(name))?;
    let message = format!("\"{}\" is not a host name", name.escape_debug());
    Some(Diagnostic::new(HOST_FILE_NAME, message, host.place.clone()).help(NAME_HELP))
}

/// Kubernetes has names in lower case only (RFC 1123): BareMetalHost, Node and each object that is named after the host.
fn refused_name(host: &Host) -> Option<Diagnostic> {
    if !host.is_machine {
        return other_case(host);
    }
    let name = host.name.as_deref().filter(|name| {
        name.chars().any(|character| character.is_ascii_uppercase() || character == '_')
    })?;
    let message = format!("\"{}\" is no name of a Kubernetes object", name.escape_debug());
    let help = "use lower-case letters, digits, hyphens and dots";
    Some(Diagnostic::new(HOST_NAME_FORM, message, host.place.clone()).help(help))
}

/// A node looks for its file by its own name, in this case.
fn other_case(host: &Host) -> Option<Diagnostic> {
    let file = Path::new(&*host.place.file);
    let stem = || file.file_stem()?.to_str().filter(|_| host.policy.is_none());
    let name = host.name.as_deref().or_else(stem)?;
    let own = host.document()?.root.at(&["hostname", "config"])?.text().map(short_host_name)?;
    if own == name || !own.eq_ignore_ascii_case(name) {
        return None;
    }
    let (name, own) = (name.escape_debug(), own.escape_debug());
    let message = format!("\"{name}\" is not the document's own host name, \"{own}\"");
    let help = format!("nodes look for {own}.yml");
    Some(Diagnostic::new(HOST_NAME_FORM, message, host.place.clone()).help(help))
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
                    let first = other.facts.place(*first);
                    let name = other.name().unwrap_or("another host");
                    let message = format!("{value} is also on {name} ({})", first.shown());
                    let finding = Diagnostic::new(rule, message, member.facts.place(*at));
                    diagnostics.push(finding.with(other.host.name.as_deref(), first));
                }
            }
        }
    }
}

//! Hosts of different clusters: what the whole site has once. Names, and addresses that no router knows, may repeat.

use std::collections::{HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;

use nmgen_core::check::{Address, At};
use nmgen_core::node::short_host_name;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, rules};

use super::member::Member;
use crate::source::{Cluster, ManagementController, cluster_of};

rules! {
    warning BMC_ON_TWO_HOSTS = "bmc-on-two-hosts";
    warning MAC_IN_TWO_CLUSTERS = "mac-in-two-clusters";
    warning ADDRESS_IN_TWO_CLUSTERS = "address-in-two-clusters";
}

/// A host's cluster and short name.
type Id<'h> = (Option<&'h str>, Option<&'h str>);

/// Two hosts that are told as one.
pub(super) type Told<'h> = HashSet<(Id<'h>, Id<'h>)>;

/// By one controller, the installer would switch two hosts on and off as one.
pub(super) fn controllers<'h>(
    controllers: &'h [ManagementController],
    clusters: &[Cluster],
    diagnostics: &mut Diagnostics,
) -> Told<'h> {
    let mut told = HashSet::new();
    let id = |controller: &'h ManagementController| -> Id<'h> {
        (controller.cluster.as_deref(), controller.host.as_deref().map(short_host_name))
    };
    let mut first: HashMap<&str, &ManagementController> = HashMap::new();
    for controller in controllers {
        let Some(other) = first.insert(&controller.address, controller) else { continue };
        let is_same_cluster = other.cluster == controller.cluster;
        let is_same_host = other.host.is_some() && other.host == controller.host;
        if is_same_cluster && is_same_host
            || are_variants(clusters, other.cluster.as_deref(), controller.cluster.as_deref())
        {
            continue;
        }
        let name = other.host.as_deref().unwrap_or("another host");
        let of = match &other.cluster {
            Some(cluster) if !is_same_cluster => format!(" of {}", cluster.escape_debug()),
            _ => String::new(),
        };
        let message = format!(
            "the management controller {} is also that of {name}{of} ({})",
            controller.address.escape_debug(),
            other.place.shown()
        );
        diagnostics.push(Diagnostic::new(BMC_ON_TWO_HOSTS, message, controller.place.clone()));
        told.insert((id(other), id(controller)));
    }
    told
}

fn are_variants(clusters: &[Cluster], one: Option<&str>, other: Option<&str>) -> bool {
    let of = |name: Option<&str>| clusters.iter().find(|cluster| cluster.name.as_deref() == name);
    one != other
        && matches!((of(one), of(other)), (Some(one), Some(other)) if one.is_variant_of(other))
}

/// Network cards and routed addresses, one message for two hosts.
pub(super) fn hosts<'h>(
    members: &[Member<'h>],
    clusters: &'h [Cluster],
    mut told: Told<'h>,
    diagnostics: &mut Diagnostics,
) {
    let machines: Vec<(Member<'h>, &'h Cluster)> = members
        .iter()
        .filter(|member| !member.host.is_cluster())
        .map(|member| (*member, cluster_of(clusters, member.host)))
        .collect();
    each_once(MAC_IN_TWO_CLUSTERS, &machines, &mut told, diagnostics, |member, _| {
        member.facts.macs.to_vec()
    });
    each_once(ADDRESS_IN_TWO_CLUSTERS, &machines, &mut told, diagnostics, routed);
}

/// The addresses in a network with a gateway of a default route, or in the machine network.
fn routed<'h>(member: &Member<'h>, cluster: &Cluster) -> Vec<(Address<'h>, At<'h>)> {
    let families = || member.network.families().into_iter().map(|(_, family)| family);
    let is_routed = |address: &Address<'_>| match address {
        Address::Ip(ip) => {
            let own = families().flat_map(|family| {
                family.addresses.iter().map(move |address| (address, &*family.gateways))
            });
            cluster.machine_networks.iter().any(|network| network.network.contains(ip))
                || own.into_iter().any(|(own, gateways)| {
                    own.ip == *ip && gateways.iter().any(|gateway| own.reaches(*gateway))
                })
        }
        Address::Text(_) => false,
    };
    let addresses = member.facts.addresses.iter();
    addresses.filter(|(address, _)| is_routed(address)).copied().collect()
}

fn each_once<'h, V: Eq + Hash + Display>(
    rule: Rule,
    machines: &[(Member<'h>, &'h Cluster)],
    told: &mut Told<'h>,
    diagnostics: &mut Diagnostics,
    values: impl Fn(&Member<'h>, &Cluster) -> Vec<(V, At<'h>)>,
) {
    let id = |(member, cluster): &(Member<'h>, &'h Cluster)| -> Id<'h> {
        (cluster.name.as_deref(), member.name())
    };
    let mut first: HashMap<V, (&(Member<'h>, &'h Cluster), Place)> = HashMap::new();
    for machine in machines {
        let (member, cluster) = machine;
        for (value, at) in values(member, cluster) {
            let Some((other, place)) = first.get(&value) else {
                first.insert(value, (machine, member.facts.place(at)));
                continue;
            };
            let (_, its) = other;
            let is_one = its.name == cluster.name || its.is_variant_of(cluster);
            if is_one || !told.insert((id(other), id(machine))) {
                continue;
            }
            let (of, host) = id(other);
            let host = host.unwrap_or("a host").escape_debug();
            let of = of.unwrap_or("another cluster").escape_debug();
            let message = format!("{value} is also on {host} of {of} ({})", place.shown());
            let finding = Diagnostic::new(rule, message, member.facts.place(at));
            let finding = finding.with(other.0.host.name.as_deref(), place.clone());
            diagnostics.push(finding.help(
                "two clusters that never run together, or share no network, may repeat it: then there is nothing to do",
            ));
        }
    }
}

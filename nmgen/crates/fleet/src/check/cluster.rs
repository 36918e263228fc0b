//! The addresses of hosts against those of the cluster.

use ipnet::IpNet;
use nmgen_core::source::HostNetwork;
use nmgen_document::diagnostic::{Diagnostics, Rule, rules};

use super::member::Member;
use super::network::{FamilyNetwork, StaticAddress};
use super::{ADDRESS_ON_TWO_HOSTS, machine_network};
use crate::source::{BridgeTopology, Cluster, ClusterAddress, ClusterNetwork, Replicas};

rules! {
    error VIRTUAL_ADDRESS = "virtual-address-on-host";
    error BOOTSTRAP_ADDRESS = "bootstrap-address-on-host";
    warning RENDEZVOUS_UNKNOWN = "rendezvous-ip-unknown";
    error VIRTUAL_ADDRESS_OUTSIDE = "virtual-address-outside";
    error VIRTUAL_ADDRESS_TWICE = "virtual-address-twice";
    warning VIRTUAL_ADDRESS_IS_GATEWAY = "virtual-address-is-gateway";
    warning INSIDE_INTERNAL_NETWORK = "inside-internal-network";
    warning BRIDGE_TOPOLOGY = "bridge-topology";
}

/// `is_misread`: a source could not be read; `is_faulty`: that, or anything else has an error.
pub(super) fn check(
    cluster: &Cluster,
    members: &[Member<'_>],
    is_misread: bool,
    is_faulty: bool,
    diagnostics: &mut Diagnostics,
) {
    let told = machine_network::check(cluster, members, is_faulty, diagnostics);
    if !cluster.has_outer_load_balancer {
        virtual_addresses(cluster, &told, diagnostics);
    }
    made_machines(cluster, diagnostics);
    bridge_topology(cluster, diagnostics);
    internal_networks(cluster, members, diagnostics);
    for member in members {
        // A node's state at some moment may have an address that moves.
        if matches!(member.host.network, HostNetwork::Captured(_)) {
            continue;
        }
        for address in &cluster.virtual_addresses {
            let help = "it moves between hosts by itself: no document has it";
            on_host(member, address, VIRTUAL_ADDRESS, help, diagnostics);
            is_gateway(member, address, diagnostics);
        }
        if let (Some(address), None) = (&cluster.bootstrap, &cluster.rendezvous) {
            let help = "the bootstrap machine runs while the control plane comes up: give it an address of its own";
            on_host(member, address, BOOTSTRAP_ADDRESS, help, diagnostics);
        }
    }
    if let Some(rendezvous) = &cluster.rendezvous
        && !is_misread
    {
        self::rendezvous(cluster, members, rendezvous, diagnostics);
    }
}

/// An address of the cluster that no host may have.
fn on_host(
    member: &Member<'_>,
    wanted: &ClusterAddress,
    rule: Rule,
    help: &str,
    diagnostics: &mut Diagnostics,
) {
    let Some(document) = member.host.document() else { return };
    let own = member.network.family(wanted.address).addresses.iter();
    if let Some(found) = own.into_iter().find(|own| own.ip == wanted.address) {
        let (ip, purpose) = (wanted.address, wanted.purpose);
        let message = format!("{ip} is {purpose} ({})", wanted.place.shown());
        diagnostics.add(rule, document.place(found.at), message, help);
    }
}

/// The installer refuses both faults (openshift/installer, `pkg/types/validation/installconfig.go`).
fn virtual_addresses(
    cluster: &Cluster,
    told: &machine_network::Told<'_, '_>,
    diagnostics: &mut Diagnostics,
) {
    let mut first: Vec<&ClusterAddress> = Vec::new();
    for wanted in &cluster.virtual_addresses {
        let (ip, purpose) = (wanted.address, wanted.purpose);
        let networks = machine_network::of_family(cluster, ip);
        let is_outside =
            !networks.is_empty() && !networks.iter().any(|network| network.contains(&ip));
        if is_outside && !told.explains(ip) {
            let message =
                format!("{ip}, {purpose}, is outside the machine network, {}", listed(&networks));
            let help = "a host answers for it, so it is in networking.machineNetwork: correct one of the two";
            diagnostics.add(VIRTUAL_ADDRESS_OUTSIDE, wanted.place.clone(), message, help);
        }
        // Files of two clusters may have the same address.
        let is_same =
            |other: &&&ClusterAddress| other.address == ip && other.place.file == wanted.place.file;
        match first.iter().find(is_same) {
            Some(other) => {
                let message = format!("{ip} is {} too ({})", other.purpose, other.place.shown());
                let help = "the API and the ingress have an address each";
                diagnostics.add(VIRTUAL_ADDRESS_TWICE, wanted.place.clone(), message, help);
            }
            None => first.push(wanted),
        }
    }
}

/// Machines that the installer makes: each address is one machine's, in the machine network, and none that moves.
fn made_machines(cluster: &Cluster, diagnostics: &mut Diagnostics) {
    for (index, made) in cluster.made_machines.iter().enumerate() {
        let ip = made.address;
        let is_it = |other: &&ClusterAddress| other.address == ip;
        let moving = cluster.virtual_addresses.iter().find(is_it);
        let (rule, other) = match cluster.made_machines[..index].iter().find(is_it) {
            Some(other) => (ADDRESS_ON_TWO_HOSTS, other),
            None => match moving.filter(|_| !cluster.has_outer_load_balancer) {
                Some(other) => (VIRTUAL_ADDRESS, other),
                None => continue,
            },
        };
        let message = format!("{ip} is {} too ({})", other.purpose, other.place.shown());
        let help = "each machine has an address of its own";
        diagnostics.add(rule, made.place.clone(), message, help);
    }
}

/// A proposal of the operator's (openshift/enhancements, "NMState Opt-In for br-ex").
fn bridge_topology(cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let Some(BridgeTopology { name, place }) = &cluster.bridge_topology else { return };
    let message = format!(
        "with bridgeTopology \"{}\" nodes get br-ex from a policy of the operator's, not from configure-ovs",
        name.escape_debug()
    );
    let help = "it captures the name \"primary\" that nodeip-configuration.service gives; a document of your own takes its \
        place, since a node applies one: <hostname>.yml, else cluster.yml";
    diagnostics.add(BRIDGE_TOPOLOGY, place.clone(), message, help);
}

/// The virtual address moves between the hosts that route by it.
fn is_gateway(member: &Member<'_>, wanted: &ClusterAddress, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    let family = member.network.family(wanted.address);
    if let Some(at) = family.gateway_at.filter(|_| family.gateways.contains(&wanted.address)) {
        let (ip, purpose) = (wanted.address, wanted.purpose);
        let message = format!("the gateway {ip} is {purpose} ({})", wanted.place.shown());
        let help = "give the address of the router";
        diagnostics.add(VIRTUAL_ADDRESS_IS_GATEWAY, document.place(at), message, help);
    }
}

/// The nodes route these networks into the cluster. A network with several hosts is itself the mistake.
fn internal_networks(cluster: &Cluster, members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut inside: Vec<Vec<(&Member<'_>, &StaticAddress)>> =
        vec![Vec::new(); cluster.internal_networks.len()];
    for member in members {
        if matches!(member.host.network, HostNetwork::Captured(_)) {
            continue;
        }
        for address in
            member.network.families().into_iter().flat_map(|(_, family)| &family.addresses)
        {
            let mut networks = cluster.internal_networks.iter();
            if let Some(at) = networks.position(|inner| inner.network.contains(&address.ip)) {
                inside[at].push((member, address));
            }
        }
    }
    for (ClusterNetwork { network, key, place, .. }, inside) in
        cluster.internal_networks.iter().zip(inside)
    {
        let Some((first, address)) = inside.first() else { continue };
        let place_of = |member: &Member<'_>, address: &StaticAddress| {
            member.host.document().map(|document| document.place(address.at))
        };
        if inside.iter().any(|(other, _)| !other.is_same_host(first)) {
            let at = place_of(first, address).map_or_else(String::new, |place| place.shown());
            let message = format!(
                "{key} {network} has addresses of hosts: {} ({at}) and {} more",
                address.ip,
                inside.len() - 1
            );
            let help =
                "the cluster routes that network to pods and services: take one without hosts";
            diagnostics.add(INSIDE_INTERNAL_NETWORK, place.clone(), message, help);
            continue;
        }
        for (member, address) in inside {
            let Some(at) = place_of(member, address) else { continue };
            let message = format!("{} is in the {key} {network} ({})", address.ip, place.shown());
            let help = "the cluster routes that network to pods and services: take an address outside of it";
            diagnostics.add(INSIDE_INTERNAL_NETWORK, at, message, help);
        }
    }
}

pub(super) fn listed(networks: &[IpNet]) -> String {
    networks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Silent while some host's addresses are unknown.
fn rendezvous(
    cluster: &Cluster,
    members: &[Member<'_>],
    wanted: &ClusterAddress,
    diagnostics: &mut Diagnostics,
) {
    let machines = || members.iter().filter(|member| member.host.is_machine);
    let replicas = cluster.replicas.iter().map(|Replicas { count, .. }| *count).sum::<u64>();
    let is_known = |member: &Member<'_>| {
        let family: &FamilyNetwork = member.network.family(wanted.address);
        member.host.document().is_some() && !family.is_dynamic
    };
    let has_it = |member: &Member<'_>| {
        let family = member.network.family(wanted.address);
        family.addresses.iter().any(|own| own.ip == wanted.address)
    };
    let count = machines().count() as u64;
    if count == 0 || count < replicas || !machines().all(is_known) || members.iter().any(has_it) {
        return;
    }
    let message = format!("no host has the rendezvousIP {}", wanted.address);
    let help = "it is the address of the control-plane host that installs the others";
    diagnostics.add(RENDEZVOUS_UNKNOWN, wanted.place.clone(), message, help);
}

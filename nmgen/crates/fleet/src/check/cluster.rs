//! The addresses of hosts against those of the cluster.

use nmgen_core::check::is_of_each_host;
use nmgen_core::source::HostNetwork;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};

use super::ADDRESS_ON_TWO_HOSTS;
use super::member::Member;
use super::network::Family;
use crate::source::{BridgeTopology, Cluster, ClusterAddress, InternalNetwork, Replicas};

rules! {
    error VIRTUAL_ADDRESS = "virtual-address-on-host";
    error BOOTSTRAP_ADDRESS = "bootstrap-address-on-host";
    warning OUTSIDE_MACHINE_NETWORK = "outside-machine-network";
    warning RENDEZVOUS_UNKNOWN = "rendezvous-ip-unknown";
    warning VIRTUAL_ADDRESS_OUTSIDE = "virtual-address-outside";
    warning VIRTUAL_ADDRESS_TWICE = "virtual-address-twice";
    warning VIRTUAL_ADDRESS_IS_GATEWAY = "virtual-address-is-gateway";
    warning INSIDE_INTERNAL_NETWORK = "inside-internal-network";
    warning BRIDGE_TOPOLOGY = "bridge-topology";
}

pub(super) fn check(
    cluster: &Cluster,
    members: &[Member<'_>],
    is_misread: bool,
    diagnostics: &mut Diagnostics,
) {
    if !cluster.has_outer_load_balancer {
        virtual_addresses(cluster, diagnostics);
    }
    made_machines(cluster, diagnostics);
    bridge_topology(cluster, diagnostics);
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
        internal_networks(cluster, member, diagnostics);
        if let (Some(address), None) = (&cluster.bootstrap, &cluster.rendezvous) {
            let help = "the bootstrap machine runs while the control plane comes up: give it an address of its own";
            on_host(member, address, BOOTSTRAP_ADDRESS, help, diagnostics);
        }
        if member.host.policy.is_none() {
            machine_network(cluster, member, diagnostics);
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
        diagnostics.push(Diagnostic::new(rule, message, document.place(found.at)).help(help));
    }
}

/// The installer refuses both faults (openshift/installer, `pkg/types/validation/installconfig.go`).
fn virtual_addresses(cluster: &Cluster, diagnostics: &mut Diagnostics) {
    let mut first: Vec<&ClusterAddress> = Vec::new();
    for wanted in &cluster.virtual_addresses {
        let (ip, purpose) = (wanted.address, wanted.purpose);
        let of_family =
            || cluster.machine_networks.iter().filter(|it| it.is_ipv4() == ip.is_ipv4());
        if of_family().next().is_some() && !of_family().any(|network| network.contains(ip)) {
            let networks: Vec<String> = of_family().map(ToString::to_string).collect();
            let message =
                format!("{ip}, {purpose}, is outside the machine network, {}", networks.join(", "));
            let help = "a host answers for it, so it is in networking.machineNetwork: correct one of the two";
            diagnostics.push(
                Diagnostic::new(VIRTUAL_ADDRESS_OUTSIDE, message, wanted.place.clone()).help(help),
            );
        }
        // Files of two clusters may have the same address.
        let is_same =
            |it: &&&ClusterAddress| it.address == ip && it.place.file == wanted.place.file;
        match first.iter().find(is_same) {
            Some(other) => {
                let message = format!("{ip} is {} too ({})", other.purpose, other.place.shown());
                let help = "the API and the ingress have an address each";
                diagnostics.push(
                    Diagnostic::new(VIRTUAL_ADDRESS_TWICE, message, wanted.place.clone())
                        .help(help),
                );
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
        diagnostics.push(
            Diagnostic::new(rule, message, made.place.clone())
                .help("each machine has an address of its own"),
        );
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
    diagnostics.push(Diagnostic::new(BRIDGE_TOPOLOGY, message, place.clone()).help(help));
}

/// The virtual address moves between the hosts that route by it.
fn is_gateway(member: &Member<'_>, wanted: &ClusterAddress, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    let family = member.network.family(wanted.address);
    if let Some(at) = family.gateway_at.filter(|_| family.gateways.contains(&wanted.address)) {
        let (ip, purpose) = (wanted.address, wanted.purpose);
        let message = format!("the gateway {ip} is {purpose} ({})", wanted.place.shown());
        diagnostics.push(
            Diagnostic::new(VIRTUAL_ADDRESS_IS_GATEWAY, message, document.place(at))
                .help("give the address of the router"),
        );
    }
}

/// The nodes route these networks into the cluster.
fn internal_networks(cluster: &Cluster, member: &Member<'_>, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    let addresses = member.network.families().into_iter().flat_map(|(_, family)| &family.addresses);
    for address in addresses {
        let inner =
            cluster.internal_networks.iter().find(|inner| inner.network.contains(address.ip));
        if let Some(InternalNetwork { network, key, place }) = inner {
            let message = format!("{} is in the {key} {network} ({})", address.ip, place.shown());
            diagnostics.push(
                Diagnostic::new(INSIDE_INTERNAL_NETWORK, message, document.place(address.at))
                    .help("the cluster routes that network to pods and services: take an address outside of it"),
            );
        }
    }
}

/// A host may have addresses elsewhere too, but one of each family that the machine network has. DHCP may give it.
fn machine_network(cluster: &Cluster, member: &Member<'_>, diagnostics: &mut Diagnostics) {
    let Some(document) = member.host.document() else { return };
    let networks = &cluster.machine_networks;
    for (name, family) in member.network.families() {
        let own = || family.addresses.iter().filter(|address| !is_of_each_host(&address.ip));
        let Some(first) = own().next() else { continue };
        let of_family: Vec<String> = networks
            .iter()
            .filter(|network| network.is_ipv4() == first.ip.is_ipv4())
            .map(ToString::to_string)
            .collect();
        let is_inside = || own().any(|own| networks.iter().any(|it| it.contains(own.ip)));
        // A family that no machine network has may be a storage network's, without a default route.
        let is_missing = of_family.is_empty() && (networks.is_empty() || !family.has_default_route);
        if is_missing || family.is_dynamic || is_inside() {
            continue;
        }
        let message = match of_family.is_empty() {
            true => format!(
                "this host uses {name}, and networking.machineNetwork has no {name} network"
            ),
            false => format!(
                "this host has no {name} address in the machine network, {}",
                of_family.join(", ")
            ),
        };
        diagnostics.push(
            Diagnostic::new(OUTSIDE_MACHINE_NETWORK, message, document.place(first.at))
                .help("kubelet's address is in networking.machineNetwork: correct one of the two"),
        );
    }
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
        let family: &Family = member.network.family(wanted.address);
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
    diagnostics.push(
        Diagnostic::new(RENDEZVOUS_UNKNOWN, message, wanted.place.clone())
            .help("it is the address of the control-plane host that installs the others"),
    );
}

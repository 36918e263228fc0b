//! The network of the hosts' own addresses, which the cluster's description gives too.

use std::collections::HashSet;
use std::net::IpAddr;

use ipnet::IpNet;
use nmgen_core::check::is_of_each_host;
use nmgen_core::source::HostNetwork;
use nmgen_document::diagnostic::{Diagnostics, Place, rules};

use super::cluster::listed;
use super::member::Member;
use super::network::{FamilyNetwork, StaticAddress};
use crate::source::{Cluster, ClusterNetwork};

rules! {
    warning OUTSIDE_MACHINE_NETWORK = "outside-machine-network";
}

const HELP: &str = "kubelet's address is in networking.machineNetwork: correct one of the two";

/// Machine networks that are told to be wrong themselves.
pub(super) struct Told<'m, 'h> {
    /// The hosts outside of them.
    hosts: Vec<&'m Member<'h>>,
    is_default: bool,
}

impl Told<'_, '_> {
    /// True if an address outside of the machine networks is where the hosts are.
    pub(super) fn explains(&self, ip: IpAddr) -> bool {
        self.hosts
            .iter()
            .any(|member| member.network.family(ip).addresses.iter().any(|own| own.reaches(ip)))
    }
}

/// The given machine networks of an address's family.
pub(super) fn of_family(cluster: &Cluster, ip: IpAddr) -> Vec<IpNet> {
    let networks = cluster.machine_networks.iter().filter(|network| !network.is_default);
    networks
        .map(|network| network.network)
        .filter(|network| network.addr().is_ipv4() == ip.is_ipv4())
        .collect()
}

/// A host may have addresses elsewhere too, but one of each family that the machine network has. DHCP may give it. `is_faulty`: an
/// error may be the reason why a description has no machine network.
pub(super) fn check<'m, 'h>(
    cluster: &Cluster,
    members: &'m [Member<'h>],
    is_faulty: bool,
    diagnostics: &mut Diagnostics,
) -> Told<'m, 'h> {
    let mut told = Told { hosts: Vec::new(), is_default: false };
    let mut has_other_family = false;
    for index in 0..2 {
        let hosts = members.iter().filter(|member| is_compared(member));
        let hosts: Vec<Own<'_, '_>> = hosts.filter_map(|host| Own::new(host, index)).collect();
        let inside = |ip: IpAddr| {
            cluster.machine_networks.iter().any(|network| network.network.contains(&ip))
        };
        let (within, outside): (Vec<_>, Vec<_>) =
            hosts.into_iter().partition(|own| own.addresses().any(|address| inside(address.ip)));
        // Both families are outside of the same default.
        if told.is_default {
            break;
        }
        let is_wrong = |network: &&ClusterNetwork| match network.is_default {
            true => !is_faulty && (index == 0 || !has_other_family && outside[0].is_routed()),
            false => {
                are_several(&outside)
                    && network.network.addr().is_ipv4() == outside[0].first.ip.is_ipv4()
            }
        };
        let are_all = within.is_empty() && !outside.is_empty();
        let wrong = cluster.machine_networks.iter().filter(|_| are_all).find(is_wrong);
        has_other_family |= !within.is_empty() || !outside.is_empty();
        if let (Some(wrong), Some(first)) = (wrong, outside.first()) {
            let example = format!("{} ({})", first.first.ip, first.place().shown());
            let networks = listed(&of_family(cluster, first.first.ip));
            let (message, help) = match wrong.is_default {
                true => (
                    format!(
                        "without a machineNetwork the installer takes {}, where no host is: {example}",
                        wrong.network
                    ),
                    "give the hosts' network in networking.machineNetwork",
                ),
                false => (
                    format!("no host has an address in the machine network, {networks}: {example}"),
                    HELP,
                ),
            };
            diagnostics.add(OUTSIDE_MACHINE_NETWORK, wrong.place.clone(), message, help);
            told.is_default |= wrong.is_default;
            told.hosts.extend(outside.iter().map(|own| own.member));
            continue;
        }
        for own in outside {
            own.tell(cluster, diagnostics);
        }
    }
    told
}

/// A node's state at some moment, and a policy, are no host's whole network.
fn is_compared(member: &Member<'_>) -> bool {
    !matches!(member.host.network, HostNetwork::Captured(_)) && member.host.policy.is_none()
}

fn are_several(hosts: &[Own<'_, '_>]) -> bool {
    let names: HashSet<&str> = hosts.iter().filter_map(|own| own.member.name()).collect();
    let nameless = hosts.iter().filter(|own| own.member.name().is_none()).count();
    names.len() + nameless > 1
}

/// A host's own addresses of a family, none of which DHCP gives.
struct Own<'m, 'h> {
    member: &'m Member<'h>,
    name: &'static str,
    family: &'m FamilyNetwork,
    first: &'m StaticAddress,
}

impl<'m, 'h> Own<'m, 'h> {
    /// `index`: of the family.
    fn new(member: &'m Member<'h>, index: usize) -> Option<Self> {
        member.host.document()?;
        let (name, family) = member.network.families()[index];
        let first = family.addresses.iter().find(|address| !is_of_each_host(&address.ip))?;
        (!family.is_dynamic).then_some(Self { member, name, family, first })
    }

    /// A family without a default route may be a storage network's.
    fn is_routed(&self) -> bool {
        self.family.has_default_route
    }

    fn addresses(&self) -> impl Iterator<Item = &StaticAddress> {
        self.family.addresses.iter().filter(|address| !is_of_each_host(&address.ip))
    }

    fn place(&self) -> Place {
        let document = self.member.host.document();
        document.map_or_else(
            || self.member.host.place.clone(),
            |document| document.place(self.first.at),
        )
    }

    /// Tells that this host is outside.
    fn tell(&self, cluster: &Cluster, diagnostics: &mut Diagnostics) {
        let networks = of_family(cluster, self.first.ip);
        let is_other =
            cluster.machine_networks.iter().all(|network| network.is_default) || !self.is_routed();
        let name = self.name;
        let message = match networks.is_empty() {
            true if is_other => return,
            true => format!(
                "this host uses {name}, and networking.machineNetwork has no {name} network"
            ),
            false => {
                let networks = listed(&networks);
                format!("this host has no {name} address in the machine network, {networks}")
            }
        };
        diagnostics.add(OUTSIDE_MACHINE_NETWORK, self.place(), message, HELP);
    }
}

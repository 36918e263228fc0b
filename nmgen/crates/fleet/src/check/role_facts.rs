//! Facts that the hosts of a role usually share: VLANs, MTUs, gateways, prefix lengths, name servers, modes of bonds. A host of
//! another subnet may differ in each.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;
use std::net::IpAddr;

use nmgen_core::source::HostNetwork;
use nmgen_document::diagnostic::{Diagnostics, Place, Rule, rules};
use nmgen_document::text::Span;

use super::member::Member;
use super::network::{FamilyNetwork, Network, StaticAddress};
use super::roles::groups;

rules! {
    warning VLAN_DIFFERS = "vlan-differs-in-role";
    warning MTU_DIFFERS = "mtu-differs-in-role";
    warning DEFAULT_ROUTE_DIFFERS = "default-route-differs-in-role";
    warning GATEWAY_DIFFERS = "gateway-differs-in-role";
    warning PREFIX_LENGTH_DIFFERS = "prefix-length-differs-in-role";
    warning DNS_DIFFERS = "dns-differs-in-role";
    warning BOND_MODE_DIFFERS = "bond-mode-differs-in-role";
}

const HELP: &str = "if this host is meant to differ, there is nothing to do";

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    for (role, mut hosts) in groups(members) {
        let mut group = RoleGroup { role, diagnostics };
        group.vlans(&hosts);
        group.mtus(&hosts);
        hosts.retain(|member| {
            let is_captured = matches!(member.host.network, HostNetwork::Captured(_));
            member.host.policy.is_none() && !is_captured
        });
        for family in [|network| &network.ipv4, |network| &network.ipv6] as [Part; 2] {
            group.default_routes(&hosts, family);
            group.gateways(&hosts, family);
            group.prefix_lengths(&hosts, family);
        }
        group.name_servers(&hosts);
        group.bonds(&hosts);
    }
}

struct RoleGroup<'a> {
    role: &'a str,
    diagnostics: &'a mut Diagnostics,
}

type Part = for<'n> fn(&'n Network<'_>) -> &'n FamilyNetwork;
type Hosts<'m, 'h> = [&'m Member<'h>];

/// The place of a difference, the words on this host, and those on the others.
type Difference = (Place, String, String);

impl RoleGroup<'_> {
    /// Reports each host whose value differs from that of a majority of at least two hosts, unless `difference` has no words
    /// for it.
    fn compare<'m, 'h, V: Copy + Eq + Hash>(
        &mut self,
        rule: Rule,
        hosts: &[(&'m Member<'h>, V)],
        difference: impl Fn(&'m Member<'h>, V, V) -> Option<Difference>,
    ) {
        let all = hosts.len();
        let mut counts: HashMap<V, usize> = HashMap::new();
        for (_, value) in hosts {
            *counts.entry(*value).or_default() += 1;
        }
        let is_majority = |count: usize| count * 2 > all && count > 1 && count < all;
        let Some((most, count)) = counts.into_iter().find(|(_, count)| is_majority(*count)) else {
            return;
        };
        for (member, value) in hosts.iter().filter(|(_, value)| *value != most) {
            let Some((place, here, others)) = difference(member, *value, most) else { continue };
            let role = self.role;
            let message = format!("{here}; {count} of {all} hosts of role {role} have {others}");
            self.diagnostics.add(rule, place, message, HELP);
        }
    }

    fn vlans(&mut self, hosts: &Hosts<'_, '_>) {
        let ids = |member: &&Member<'_>| member.facts.vlans.iter().map(|(id, _)| *id).collect();
        let values: Vec<BTreeSet<u64>> = hosts.iter().map(ids).collect();
        let hosts: Vec<_> = hosts.iter().copied().zip(&values).collect();
        let shown = |vlans: &BTreeSet<u64>| match vlans.is_empty() {
            true => "no VLAN".to_owned(),
            false => format!("VLAN {}", listed(vlans)),
        };
        self.compare(VLAN_DIFFERS, &hosts, |Member { host, facts, .. }, own, others| {
            let other = own.difference(others).next();
            let at = other.and_then(|other| facts.vlans.iter().rfind(|(id, _)| id == other));
            let place = at.map_or_else(|| host.place.clone(), |(_, at)| facts.place(*at));
            Some((place, format!("{} here", shown(own)), shown(others)))
        });
    }

    /// By the interface's name.
    fn mtus(&mut self, hosts: &Hosts<'_, '_>) {
        let names = hosts.iter().flat_map(|member| member.facts.mtus.iter().map(|(name, _)| *name));
        for name in names.collect::<BTreeSet<&str>>() {
            let mtu = |member: &&Member<'_>| Some(member.facts.mtu(name)?.0);
            let of_name = hosts.iter().filter_map(|member| Some((*member, mtu(member)?)));
            let of_name: Vec<_> = of_name.collect();
            self.compare(MTU_DIFFERS, &of_name, |member, own, others| {
                let own = own.map_or("no MTU".to_owned(), |mtu| format!("MTU {mtu}"));
                let others = others.map_or("none".to_owned(), |mtu| mtu.to_string());
                let place = member.facts.place(member.facts.mtu(name)?.1);
                Some((place, format!("{name} has {own} here"), others))
            });
        }
    }

    /// Default routes, of hosts with static addresses alone.
    fn default_routes(&mut self, hosts: &Hosts<'_, '_>, family: Part) {
        let hosts = hosts.iter().filter_map(|member| {
            let family = family(member.network);
            let is_static = !family.is_dynamic && !family.addresses.is_empty();
            is_static.then_some((*member, family.has_default_route))
        });
        self.compare(DEFAULT_ROUTE_DIFFERS, &hosts.collect::<Vec<_>>(), |member, _, others| {
            let own = family(member.network).addresses.first().filter(|_| others)?;
            let name = if own.ip.is_ipv4() { "IPv4" } else { "IPv6" };
            Some((place(member, own.at)?, format!("no {name} default route here"), "one".into()))
        });
    }

    /// A gateway that the host could use and does not.
    fn gateways(&mut self, hosts: &Hosts<'_, '_>, family: Part) {
        let hosts = hosts.iter().map(|member| (*member, &*family(member.network).gateways));
        let hosts: Vec<_> = hosts.filter(|(_, gateways)| !gateways.is_empty()).collect();
        self.compare(GATEWAY_DIFFERS, &hosts, |member, own, others| {
            let family = family(member.network);
            let reaches = |gateway: &IpAddr| address_beside(family, *gateway).is_some();
            let at = family.gateway_at.filter(|_| others.iter().all(reaches))?;
            let here = format!("the gateway is {} here", listed(own));
            Some((place(member, at)?, here, listed(others)))
        });
    }

    /// Prefix lengths of the addresses in the gateway's network, among hosts with the same gateway.
    fn prefix_lengths(&mut self, hosts: &Hosts<'_, '_>, family: Part) {
        let mut of_gateway: BTreeMap<IpAddr, Vec<(&Member<'_>, u64)>> = BTreeMap::new();
        for member in hosts {
            let family = family(member.network);
            for gateway in &family.gateways {
                let address = address_beside(family, *gateway);
                let length = address.and_then(|address| address.length);
                of_gateway
                    .entry(*gateway)
                    .or_default()
                    .extend(length.map(|length| (*member, length)));
            }
        }
        for (gateway, hosts) in of_gateway {
            self.compare(PREFIX_LENGTH_DIFFERS, &hosts, |member, own, others| {
                let at = address_beside(family(member.network), gateway)?.length_at;
                let here = format!("prefix length {own} here");
                Some((place(member, at)?, here, others.to_string()))
            });
        }
    }

    /// Among hosts with the same gateways. DHCP gives name servers too.
    fn name_servers(&mut self, hosts: &Hosts<'_, '_>) {
        let mut of_gateways: BTreeMap<_, Vec<(&Member<'_>, &[&str])>> = BTreeMap::new();
        for member in hosts {
            let Network { ipv4, ipv6, servers, .. } = member.network;
            if !servers.is_empty() || !ipv4.is_dynamic && !ipv6.is_dynamic {
                let of_gateways = of_gateways.entry((&ipv4.gateways, &ipv6.gateways));
                of_gateways.or_default().push((*member, servers));
            }
        }
        for hosts in of_gateways.values() {
            self.compare(DNS_DIFFERS, hosts, |member, own, others| {
                let families = member.network.families().into_iter();
                let first = families.flat_map(|(_, family)| &family.addresses).next();
                let at = member.network.servers_at.or(first.map(|address| address.at))?;
                let here = match own.is_empty() {
                    true => "no name server here".to_owned(),
                    false => format!("name servers {} here", listed(own)),
                };
                let others = if others.is_empty() { "none".to_owned() } else { listed(others) };
                Some((place(member, at)?, here, others))
            });
        }
    }

    /// By the bond's name.
    fn bonds(&mut self, hosts: &Hosts<'_, '_>) {
        let names = hosts.iter().flat_map(|member| member.network.bonds.iter());
        for name in names.map(|(name, _)| *name).collect::<BTreeSet<&str>>() {
            let mode = |member: &&Member<'_>| Some(member.network.bond(name)?.0);
            let of_name = hosts.iter().filter_map(|member| Some((*member, mode(member)?)));
            self.compare(BOND_MODE_DIFFERS, &of_name.collect::<Vec<_>>(), |member, own, others| {
                let (_, at) = member.network.bond(name)?;
                let here = format!("{name} has mode {own} here");
                Some((place(member, at)?, here, others.to_owned()))
            });
        }
    }
}

fn place(member: &Member<'_>, at: Span) -> Option<Place> {
    Some(member.host.document()?.place(at))
}

/// The first address in the gateway's network.
fn address_beside(family: &FamilyNetwork, gateway: IpAddr) -> Option<&StaticAddress> {
    family.addresses.iter().find(|address| address.reaches(gateway))
}

fn listed<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

//! Facts that the hosts of a role usually share: gateways, prefix lengths, name servers, modes of bonds. A host of another
//! subnet may differ in each.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use nmgen_core::source::{Host, HostNetwork};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Rule, rules};
use nmgen_document::text::Span;

use super::majority::{Odd, odd};
use super::member::Member;
use super::network::{Family, Network};
use super::roles::{HELP, groups};

rules! {
    warning DEFAULT_ROUTE_DIFFERS = "default-route-differs-in-role";
    warning GATEWAY_DIFFERS = "gateway-differs-in-role";
    warning PREFIX_LENGTH_DIFFERS = "prefix-length-differs-in-role";
    warning DNS_DIFFERS = "dns-differs-in-role";
    warning BOND_MODE_DIFFERS = "bond-mode-differs-in-role";
}

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    for (role, mut group) in groups(members) {
        let is_captured = |host: &Host| matches!(host.network, HostNetwork::Captured(_));
        group.retain(|member| member.host.policy.is_none() && !is_captured(member.host));
        let mut role = Role { role, diagnostics };
        for family in [|it| &it.ipv4, |it| &it.ipv6] as [Part; 2] {
            role.default_routes(&group, family);
            role.gateways(&group, family);
            role.prefix_lengths(&group, family);
        }
        role.name_servers(&group);
        role.bonds(&group);
    }
}

struct Role<'a> {
    role: &'a str,
    diagnostics: &'a mut Diagnostics,
}

type Part = for<'n> fn(&'n Network<'_>) -> &'n Family;

impl Role<'_> {
    /// Default routes, of hosts with static addresses alone.
    fn default_routes(&mut self, group: &[&Member<'_>], family: Part) {
        let of = |member: &&Member<'_>| {
            let family = family(member.network);
            !family.is_dynamic && !family.addresses.is_empty()
        };
        let group: Vec<&Member<'_>> = group.iter().copied().filter(of).collect();
        let values: Vec<bool> =
            group.iter().map(|it| family(it.network).has_default_route).collect();
        for Odd { index, others, count, .. } in odd(&values) {
            if others && let Some(own) = family(group[index].network).addresses.first() {
                let name = family_name(own.ip);
                let text = format!("no {name} default route here");
                self.add(
                    DEFAULT_ROUTE_DIFFERS,
                    group[index],
                    own.at,
                    &text,
                    count,
                    values.len(),
                    "one",
                );
            }
        }
    }

    /// A gateway that the host could use and does not.
    fn gateways(&mut self, group: &[&Member<'_>], family: Part) {
        let of = |member: &&Member<'_>| !family(member.network).gateways.is_empty();
        let group: Vec<&Member<'_>> = group.iter().copied().filter(of).collect();
        let values: Vec<&[IpAddr]> = group.iter().map(|it| &*family(it.network).gateways).collect();
        for Odd { index, value, others, count } in odd(&values) {
            let own = family(group[index].network);
            let reaches = |gateway: &IpAddr| own.addresses.iter().any(|it| it.reaches(*gateway));
            if let Some(at) = own.gateway_at.filter(|_| others.iter().all(reaches)) {
                let (own, others) = (listed(value), listed(others));
                let text = format!("the gateway is {own} here");
                self.add(GATEWAY_DIFFERS, group[index], at, &text, count, values.len(), &others);
            }
        }
    }

    /// Prefix lengths of the addresses in the gateway's network, among hosts with the same gateway.
    fn prefix_lengths(&mut self, group: &[&Member<'_>], family: Part) {
        let mut of_gateway: BTreeMap<IpAddr, Vec<(&Member<'_>, u64, Span)>> = BTreeMap::new();
        for member in group {
            let family = family(member.network);
            for gateway in &family.gateways {
                let address = family.addresses.iter().find(|address| address.reaches(*gateway));
                if let Some(address) = address
                    && let Some(length) = address.length
                {
                    let known = of_gateway.entry(*gateway).or_default();
                    known.push((member, length, address.length_at));
                }
            }
        }
        for hosts in of_gateway.values() {
            let values: Vec<u64> = hosts.iter().map(|(_, length, _)| *length).collect();
            for Odd { index, value, others, count } in odd(&values) {
                let (member, _, at) = hosts[index];
                let (text, others) = (format!("prefix length {value} here"), others.to_string());
                self.add(PREFIX_LENGTH_DIFFERS, member, at, &text, count, values.len(), &others);
            }
        }
    }

    /// Among hosts with the same gateways. DHCP gives name servers too.
    fn name_servers(&mut self, group: &[&Member<'_>]) {
        let mut of_gateways: BTreeMap<_, Vec<&Member<'_>>> = BTreeMap::new();
        for member in group {
            let network = &member.network;
            let is_dynamic = network.ipv4.is_dynamic || network.ipv6.is_dynamic;
            if !network.servers.is_empty() || !is_dynamic {
                let gateways = (&network.ipv4.gateways, &network.ipv6.gateways);
                of_gateways.entry(gateways).or_default().push(member);
            }
        }
        for hosts in of_gateways.values() {
            let values: Vec<&[&str]> =
                hosts.iter().map(|member| &*member.network.servers).collect();
            for Odd { index, value, others, count } in odd(&values) {
                let network = &hosts[index].network;
                let first = network.families().into_iter().find_map(|(_, it)| it.addresses.first());
                let Some(at) = network.servers_at.or(first.map(|address| address.at)) else {
                    continue;
                };
                let text = match value.is_empty() {
                    true => "no name server here".to_owned(),
                    false => format!("name servers {} here", listed(value)),
                };
                let others = if others.is_empty() { "none".to_owned() } else { listed(others) };
                self.add(DNS_DIFFERS, hosts[index], at, &text, count, values.len(), &others);
            }
        }
    }

    /// By the bond's name.
    fn bonds(&mut self, group: &[&Member<'_>]) {
        let names: BTreeSet<&str> = group
            .iter()
            .flat_map(|member| member.network.bonds.iter().map(|(name, _)| *name))
            .collect();
        for name in names {
            let hosts: Vec<(&Member<'_>, (&'static str, Span))> = group
                .iter()
                .filter_map(|member| Some((*member, member.network.bond(name)?)))
                .collect();
            let values: Vec<&'static str> = hosts.iter().map(|(_, (mode, _))| *mode).collect();
            for Odd { index, value, others, count } in odd(&values) {
                let (member, (_, at)) = hosts[index];
                let text = format!("{name} has mode {value} here");
                self.add(BOND_MODE_DIFFERS, member, at, &text, count, values.len(), others);
            }
        }
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one sentence")]
    fn add(
        &mut self,
        rule: Rule,
        member: &Member<'_>,
        at: Span,
        text: &str,
        count: usize,
        all: usize,
        others: &str,
    ) {
        let Some(document) = member.host.document() else { return };
        let role = self.role;
        let message = format!("{text}; {count} of {all} hosts of role {role} have {others}");
        self.diagnostics.push(Diagnostic::new(rule, message, document.place(at)).help(HELP));
    }
}

fn family_name(ip: IpAddr) -> &'static str {
    if ip.is_ipv4() { "IPv4" } else { "IPv6" }
}

fn listed<T: ToString>(values: &[T]) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

//! Gateways that are hosts themselves: they route nothing for others.

use std::collections::HashMap;
use std::net::IpAddr;

use nmgen_core::check::{Address, is_of_each_host};
use nmgen_core::source::HostNetwork;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};

use super::member::Member;

rules! {
    warning GATEWAY_IS_A_HOST = "gateway-is-a-host";
}

pub(super) fn check(members: &[Member<'_>], diagnostics: &mut Diagnostics) {
    let mut owners: HashMap<IpAddr, &Member<'_>> = HashMap::new();
    let written =
        members.iter().filter(|member| matches!(member.host.network, HostNetwork::Written(_)));
    for member in written.clone() {
        for address in
            member.network.families().into_iter().flat_map(|(_, family)| &family.addresses)
        {
            if !is_of_each_host(&address.ip) {
                owners.entry(address.ip).or_insert(member);
            }
        }
    }
    for member in written {
        let Some(document) = member.host.document() else { continue };
        for (_, family) in member.network.families() {
            let mut gateways = family.gateways.iter();
            let other = gateways.find_map(|gateway| {
                let owner = owners.get(gateway).filter(|owner| !owner.is_same_host(member))?;
                Some((gateway, owner))
            });
            let (Some((gateway, owner)), Some(at)) = (other, family.gateway_at) else { continue };
            let name = owner.name().unwrap_or("another host");
            let message = format!("the gateway {gateway} is the address of the host {name}");
            let help =
                "give the address of the router: a node of a cluster routes nothing for others";
            let finding =
                Diagnostic::new(GATEWAY_IS_A_HOST, message, document.place(at)).help(help);
            let mut addresses = owner.facts.addresses.iter();
            let its = addresses.find(|(address, _)| *address == Address::Ip(*gateway));
            diagnostics.push(match its {
                Some((_, at)) => finding.with(owner.host.name.as_deref(), owner.facts.place(*at)),
                None => finding,
            });
        }
    }
}

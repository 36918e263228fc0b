//! LACP: a partner, one aggregator, all ports in it, and the rate.

use super::finding::{Finding, Verdict, Wire};
use crate::model::{Bond, BondPort};

pub(super) fn judge(bond: &Bond) -> Finding {
    let failed = |detail, next| Finding::failed(Wire::Lacp, &bond.name, detail, next);
    let name = &bond.name;
    // A port without a carrier is a finding of `bond`: no partner can be heard on it, and its state is an old one.
    let ports: Vec<&BondPort> = bond.ports.iter().filter(|port| port.has_carrier).collect();
    if ports.is_empty() {
        let detail = format!("no port of {name} has a carrier, so nobody can be heard");
        return Finding::new(Wire::Lacp, name, Verdict::Unknown, detail);
    }
    let names = |is_meant: &dyn Fn(&BondPort) -> bool| {
        let meant = ports.iter().filter(|port| is_meant(port)).map(|port| port.name.as_str());
        meant.collect::<Vec<&str>>().join(", ")
    };
    // The kernel keeps the address of a partner that has gone, for a while.
    let Some(partner) = bond.partner.as_ref().filter(|_| !ports.iter().all(|port| port.is_alone))
    else {
        let detail = format!(
            "nobody speaks LACP on {name}: the switch's ports are in no port channel, or in one without \
             LACP (mode on)"
        );
        return failed(
            detail,
            "have the switch's ports in one port channel with LACP (mode active)",
        );
    };
    let alone = names(&|port| port.is_alone);
    if !alone.is_empty() {
        let detail = format!(
            "{alone} of {name} hears no LACP while other ports do: half of the bond is in the switch's \
             port channel, or the cable is in another port"
        );
        return failed(detail, "compare the switch's ports with the cables (`dayone probe`, lldp)");
    }
    let elsewhere = names(&|bond_port| bond_port.aggregator != bond.aggregator);
    if !elsewhere.is_empty() {
        let detail = format!(
            "{elsewhere} of {name} is in another aggregator than the one in use (partner {partner}): the \
             cables lead to two switches that are no pair, or to two port channels"
        );
        return failed(detail, "have both cables in one port channel, or make the switches a pair");
    }
    let idle = names(&|port| !port.carries);
    if !idle.is_empty() {
        let detail =
            format!("{idle} of {name} does not carry, though its partner {partner} answers");
        return failed(detail, "look for a blocked or suspended port in the switch's port channel");
    }
    let rate = |is_fast| if is_fast { "fast" } else { "slow" };
    let theirs = ports.iter().any(|port| port.partner_is_fast);
    let count = match (ports.len(), bond.ports.len()) {
        (live, all) if live == all => format!("all {all} ports"),
        (live, all) => format!("{live} of {all} ports, all with a carrier,"),
    };
    let detail = format!(
        "partner {partner}, {count} in one aggregator; rate: {} here, {} there",
        rate(bond.is_fast),
        rate(theirs)
    );
    Finding::new(Wire::Lacp, name, Verdict::Ok, detail)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Mac;

    fn bond() -> Bond {
        let port = |name: &str| BondPort {
            name: name.to_owned(),
            has_carrier: true,
            aggregator: Some(1),
            carries: true,
            ..BondPort::default()
        };
        Bond {
            name: "bond0".to_owned(),
            is_lacp: true,
            is_fast: true,
            aggregator: Some(1),
            partner: Mac::of_ethernet(&[2, 0, 0, 0, 0, 9]),
            ports: vec![port("eno1"), port("eno2")],
        }
    }

    #[test]
    fn each_half_bond_has_its_cause() {
        let changed = |change: fn(&mut Bond)| {
            let mut bond = bond();
            change(&mut bond);
            judge(&bond)
        };
        let good = changed(|_| {});
        assert_eq!(good.result, Verdict::Ok, "{good:?}");
        assert!(good.detail.ends_with("rate: fast here, slow there"), "{good:?}");
        for (found, words) in [
            (changed(|bond| bond.partner = None), "nobody speaks LACP on bond0"),
            (changed(|bond| bond.ports[1].is_alone = true), "eno2 of bond0 hears no LACP"),
            (
                changed(|bond| bond.ports.iter_mut().for_each(|port| port.is_alone = true)),
                "nobody speaks LACP on bond0",
            ),
            (changed(|bond| bond.ports[1].aggregator = Some(2)), "eno2 of bond0 is in another"),
            (changed(|bond| bond.ports[1].carries = false), "eno2 of bond0 does not carry"),
        ] {
            assert!(found.detail.contains(words), "{found:?}");
            assert!(found.result == Verdict::Failed && found.next.is_some(), "{found:?}");
        }
        // A cable that is out is no matter of LACP.
        let one = changed(|bond| {
            bond.ports[1] = BondPort { is_alone: true, aggregator: Some(2), ..BondPort::default() };
        });
        assert_eq!(one.result, Verdict::Ok, "{one:?}");
        assert!(one.detail.contains("1 of 2 ports"), "{one:?}");
        let none = changed(|bond| bond.ports.iter_mut().for_each(|port| port.has_carrier = false));
        assert_eq!(none.result, Verdict::Unknown, "{none:?}");
    }
}

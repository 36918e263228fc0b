//! Carrier and speed of each port of a bond.

use super::finding::{Finding, Verdict, Wire};
use crate::model::{Bond, BondPort};

pub(super) fn judge(bond: &Bond) -> Finding {
    let Bond { name, ports, .. } = bond;
    if ports.is_empty() {
        let detail = format!("{name} has no port");
        return Finding::failed(Wire::Bond, name, detail, "`dayone diff` has the missing ports");
    }
    let dead: Vec<&str> =
        ports.iter().filter(|port| !port.has_carrier).map(|port| port.name.as_str()).collect();
    if !dead.is_empty() {
        let detail = format!(
            "{name} runs on {} of {} ports: {} without a carrier; the cable is out, or the switch's \
             port is down",
            ports.len() - dead.len(),
            ports.len(),
            dead.join(", ")
        );
        let next = "check the cable and its switch port";
        return Finding::failed(Wire::Bond, name, detail, next);
    }
    let all: Vec<String> = ports.iter().map(with_speed).collect();
    let all = all.join(", ");
    let mut speeds = ports.iter().filter_map(|port| port.speed);
    let first = speeds.next();
    if bond.is_lacp && speeds.any(|speed| Some(speed) != first) {
        let detail = format!("the ports of {name} differ in speed, and LACP uses one speed: {all}");
        let next = "give the slower port the other one's speed at the switch";
        return Finding::failed(Wire::Bond, name, detail, next);
    }
    Finding::new(Wire::Bond, name, Verdict::Ok, format!("{all} have a carrier"))
}

fn with_speed(port: &BondPort) -> String {
    match port.speed {
        Some(speed) => format!("{} ({speed} Mbit/s)", port.name),
        None => port.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(name: &str, has_carrier: bool, speed: u32) -> BondPort {
        BondPort { name: name.to_owned(), has_carrier, speed: Some(speed), ..BondPort::default() }
    }

    fn bond(is_lacp: bool, ports: Vec<BondPort>) -> Bond {
        Bond { name: "bond0".to_owned(), is_lacp, ports, ..Bond::default() }
    }

    #[test]
    fn each_port_has_a_carrier_and_with_lacp_one_speed() {
        let good = || port("eno1", true, 10_000);
        for (is_lacp, ports, result, words) in [
            (false, vec![good()], Verdict::Ok, "eno1 (10000 Mbit/s)"),
            (false, vec![good(), port("eno2", true, 1000)], Verdict::Ok, "eno2 (1000 Mbit/s)"),
            (true, vec![good(), port("eno2", true, 1000)], Verdict::Failed, "differ in speed"),
            (true, vec![good(), port("eno2", false, 1000)], Verdict::Failed, "1 of 2 ports: eno2"),
            (false, Vec::new(), Verdict::Failed, "no port"),
        ] {
            let found = judge(&bond(is_lacp, ports));
            assert!(found.result == result && found.detail.contains(words), "{found:?}");
            assert_eq!(found.next.is_some(), result == Verdict::Failed);
        }
    }
}

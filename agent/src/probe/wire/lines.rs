//! Faults of the cable, for a console without a network: three lines at most.

use super::finding::{Finding, Verdict};
use crate::model::Link;

const LINES: usize = 3;
/// The width of a console, without the name of the program before each line.
const WIDTH: usize = 72;

/// The carriers of the cards, then what failed, from the cable up.
pub(super) fn of(links: &[Link], findings: &[Finding]) -> Vec<String> {
    let failed: Vec<&Finding> =
        findings.iter().filter(|finding| finding.result == Verdict::Failed).collect();
    let mut lines = vec![fitting(&carriers(links))];
    let room = LINES - lines.len();
    match failed.len() {
        0 => lines.push("the wire shows nothing else wrong; see: dayone probe".to_owned()),
        few if few <= room => lines.extend(failed.iter().map(|finding| short(&finding.detail))),
        many => {
            lines.extend(failed.iter().take(room - 1).map(|finding| short(&finding.detail)));
            lines.push(format!("and {} more; see: dayone probe", many - (room - 1)));
        }
    }
    lines
}

/// The cards with and without a carrier; whoever made a link cannot pull its cable.
fn carriers(links: &[Link]) -> String {
    let cards = links.iter().filter(|link| link.physical && !link.is_made());
    let (with, without): (Vec<&Link>, Vec<&Link>) = cards.partition(|card| card.has_carrier);
    match (with.as_slice(), without.as_slice()) {
        ([], []) => "this machine has no network card that the kernel knows".to_owned(),
        ([], all) => {
            format!("no carrier on {}: cables out, or the switch's ports down", names(all))
        }
        (all, []) => format!("carrier on {}", names(all)),
        (some, rest) => format!("carrier on {}; none on {}", names(some), names(rest)),
    }
}

/// Two names, and how many more there are.
fn names(links: &[&Link]) -> String {
    let first: Vec<&str> = links.iter().take(2).map(|link| link.name.as_str()).collect();
    let first = first.join(", ");
    match links.len() {
        more @ 3.. => format!("{first} and {} more", more - 2),
        _ => first,
    }
}

/// The observation, without its cause if both together do not fit.
fn short(detail: &str) -> String {
    let is_shorter =
        |end: &usize| detail.get(..*end).is_some_and(|head| head.chars().count() <= WIDTH);
    let ends = [": ", "; "].into_iter().flat_map(|mark| detail.match_indices(mark));
    let longest = ends.map(|(end, _)| end).filter(is_shorter).max();
    match longest.filter(|_| !is_shorter(&detail.len())) {
        Some(end) => detail.get(..end).unwrap_or(detail).to_owned(),
        None => fitting(detail),
    }
}

/// A line that is too long ends with dots.
fn fitting(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let start: String = text.chars().take(WIDTH - 3).collect();
    format!("{start}...")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::wire::Wire;

    fn card(name: &str, has_carrier: bool) -> Link {
        Link { name: name.to_owned(), physical: true, has_carrier, ..Link::default() }
    }

    fn failed(detail: &str) -> Finding {
        Finding::failed(Wire::Vlan, "eno1.104", detail.to_owned(), "next")
    }

    #[test]
    fn three_lines_of_a_console_say_what_is_wrong() {
        let vlan = "other VLANs of eno1 answer, 104 does not (203.0.113.1 is silent): the switch's \
                    port does not carry VLAN 104";
        let lacp = "nobody speaks LACP on bond0: the switch's ports are in no port channel, or in one \
                    without LACP (mode on)";
        let good = Finding::new(Wire::Mtu, "192.0.2.1", Verdict::Ok, "passes".to_owned());
        let (on, off) = (card("eno1", true), card("eno2", false));
        for (links, findings, expected) in [
            (
                vec![off.clone(), card("eno3", false)],
                Vec::new(),
                vec![
                    "no carrier on eno2, eno3: cables out, or the switch's ports down",
                    "the wire shows nothing else wrong; see: dayone probe",
                ],
            ),
            (
                vec![on.clone(), off.clone()],
                vec![good, failed(lacp), failed(vlan)],
                vec![
                    "carrier on eno1; none on eno2",
                    "nobody speaks LACP on bond0",
                    "other VLANs of eno1 answer, 104 does not (203.0.113.1 is silent)",
                ],
            ),
            (
                vec![on.clone()],
                vec![failed(vlan); 3],
                vec![
                    "carrier on eno1",
                    "other VLANs of eno1 answer, 104 does not (203.0.113.1 is silent)",
                    "and 2 more; see: dayone probe",
                ],
            ),
            (
                Vec::new(),
                vec![failed(&"word ".repeat(20))],
                vec!["this machine has no network card that the kernel knows", ""],
            ),
        ] {
            let told = of(&links, &findings);
            assert!(told.len() <= LINES && told.len() == expected.len(), "{told:?}");
            for (told, expected) in told.iter().zip(expected) {
                assert!(told.starts_with(expected) && told.chars().count() <= WIDTH, "{told}");
            }
        }
        let many: Vec<Link> =
            (0..40).map(|n| card(&format!("enp129s0f{n}np0"), n % 2 == 0)).collect();
        let told = of(&many, &[]);
        assert!(told[0].chars().count() <= WIDTH, "{told:?}");
    }
}

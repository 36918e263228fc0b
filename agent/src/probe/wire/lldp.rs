//! The switch and port at the other end of each cable, against those of the settings.

use std::time::Duration;

use super::finding::{Finding, Verdict, Wire};
use crate::{client::dbus::Bus, model::LldpNeighbour, settings::LldpNeighbour as Expected};

/// Limit of NetworkManager's answer, which comes from its memory: nothing is sent.
const BOUND: Duration = Duration::from_secs(2);

pub(super) async fn look(expected: &[Expected]) -> Vec<Finding> {
    // A question to a bus without NetworkManager would start it.
    let heard = async {
        let bus = Bus::connect().await?;
        if bus.has_network_manager().await? { bus.lldp_neighbours().await } else { Ok(Vec::new()) }
    };
    match tokio::time::timeout(BOUND, heard).await {
        Ok(Ok(heard)) => judge(&heard, expected),
        Ok(Err(error)) => silent(expected, &nmgen::chain(&error)),
        Err(_) => silent(expected, "NetworkManager does not answer"),
    }
}

/// One finding, unknown, for each expected neighbour; none without an expectation.
fn silent(expected: &[Expected], why: &str) -> Vec<Finding> {
    let one = |neighbour: &Expected| {
        Finding::new(Wire::Lldp, &neighbour.link, Verdict::Unknown, format!("no neighbour: {why}"))
    };
    expected.iter().map(one).collect()
}

fn judge(heard: &[LldpNeighbour], expected: &[Expected]) -> Vec<Finding> {
    let shown = heard.iter().map(|heard| {
        let wanted = expected.iter().find(|wanted| wanted.link == heard.link);
        match wanted.filter(|wanted| !is_as(heard, wanted)) {
            Some(wanted) => swapped(heard, wanted, expected),
            None => Finding::new(Wire::Lldp, &heard.link, Verdict::Ok, described(heard)),
        }
    });
    let is_heard = |neighbour: &&Expected| heard.iter().any(|other| other.link == neighbour.link);
    let missing: Vec<Expected> =
        expected.iter().filter(|wanted| !is_heard(wanted)).cloned().collect();
    let why = "nobody speaks LLDP there, or the interface's `lldp` is not enabled";
    shown.chain(silent(&missing, why)).collect()
}

fn is_as(heard: &LldpNeighbour, wanted: &Expected) -> bool {
    let is = |heard: &Option<String>, wanted: &Option<String>| {
        wanted.is_none() || heard.as_ref() == wanted.as_ref()
    };
    is(&heard.system, &wanted.system) && is(&heard.port, &wanted.port)
}

fn swapped(heard: &LldpNeighbour, wanted: &Expected, all: &[Expected]) -> Finding {
    let Expected { link, system, port } = wanted;
    let said = |name: &Option<String>| name.clone().unwrap_or_else(|| "any".to_owned());
    let other = all.iter().find(|other| other.link != *link && is_as(heard, other));
    let cause = match other {
        Some(other) => format!("that is the cable of {}: two cables are swapped", other.link),
        None => "the cable is in another port".to_owned(),
    };
    let detail = format!(
        "{link} leads to {}, and {} {} is expected: {cause}",
        described(heard),
        said(system),
        said(port)
    );
    Finding::failed(Wire::Lldp, link, detail, "move the cable, or correct [[probe.lldp-neighbour]]")
}

fn described(neighbour: &LldpNeighbour) -> String {
    let said = |name: &Option<String>| name.clone().unwrap_or_else(|| "an unnamed one".to_owned());
    let mut text = format!("{} {}", said(&neighbour.system), said(&neighbour.port));
    if let Some(frame) = neighbour.frame {
        text += &format!(", frames of {frame} bytes");
    }
    match neighbour.vlans.as_slice() {
        [] => {}
        few @ ([_] | [_, _] | [_, _, _] | [_, _, _, _]) => {
            let few: Vec<String> = few.iter().map(u32::to_string).collect();
            text += &format!(", VLANs {}", few.join(" "));
        }
        many => text += &format!(", {} VLANs", many.len()),
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(link: &str, port: &str) -> LldpNeighbour {
        LldpNeighbour {
            link: link.to_owned(),
            system: Some("leaf-1".to_owned()),
            port: Some(port.to_owned()),
            frame: Some(9216),
            vlans: vec![103, 104],
        }
    }

    fn expected(link: &str, port: &str) -> Expected {
        Expected { link: link.to_owned(), system: None, port: Some(port.to_owned()) }
    }

    #[test]
    fn cables_that_are_swapped_are_told_and_silence_is_no_fault() {
        let all = [expected("eno1", "Eth1/1"), expected("eno2", "Eth1/2")];
        let swapped = judge(&[heard("eno1", "Eth1/2"), heard("eno2", "Eth1/1")], &all);
        assert!(swapped.iter().all(|finding| finding.result == Verdict::Failed), "{swapped:?}");
        assert!(swapped[0].detail.contains("cable of eno2: two cables are swapped"), "{swapped:?}");
        let right = judge(&[heard("eno1", "Eth1/1")], &all);
        assert_eq!(
            right.iter().map(|finding| finding.result).collect::<Vec<_>>(),
            [Verdict::Ok, Verdict::Unknown]
        );
        assert_eq!(right[0].detail, "leaf-1 Eth1/1, frames of 9216 bytes, VLANs 103 104");
        let strange = judge(&[heard("eno1", "Eth9")], &all);
        assert!(strange[0].detail.contains("in another port"), "{strange:?}");
        assert!(judge(&[], &[]).is_empty());
    }
}

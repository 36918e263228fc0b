//! Packets as large as the interface's MTU, which nobody may fragment, to the gateways and to named peers.

use std::net::IpAddr;

use super::{
    echo::Echo,
    facts::WireFacts,
    finding::{Finding, Verdict, Wire},
};
use crate::model::{Link, Oversized};

/// Targets, of a node that may have many gateways.
const ASKED: usize = 16;
/// Sizes that are common, for the sentence of a failure.
const COMMON: [u32; 3] = [1500, 1400, 1280];
/// An echo request of ping(8) with its headers.
const SMALL: u32 = 84;

/// The result of one target: the largest size that was tried and passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Passed {
    Full,
    /// Small ones, and at most one of the common sizes.
    Less(Option<u32>),
    Nothing,
}

pub(super) async fn look(facts: &WireFacts, peers: &[IpAddr]) -> Vec<Finding> {
    let gateways = facts.defaults.iter().map(|route| (route.gateway, facts.link(&route.link)));
    let peers = peers.iter().map(|ip| (*ip, facts.link_to(*ip)));
    let mut targets: Vec<(IpAddr, Option<&Link>)> = Vec::new();
    for (ip, link) in gateways.chain(peers) {
        let index = link.map(|link| link.index);
        if !targets.iter().any(|target| target.0 == ip && target.1.map(|link| link.index) == index)
        {
            targets.push((ip, link));
        }
    }
    targets.truncate(ASKED);
    // The node's own fault explains the silence of every large packet there.
    let own = |oversized: &Oversized| {
        let detail = oversized.to_string();
        Finding::failed(Wire::Mtu, &oversized.link, detail, &oversized.remedy())
    };
    let mut findings: Vec<Finding> = facts.oversized.iter().map(own).collect();
    let is_own = |link: &Link| facts.oversized.iter().any(|oversized| oversized.link == link.name);
    targets.retain(|(_, link)| !link.is_some_and(is_own));
    let one = |(ip, link): (IpAddr, Option<&Link>)| {
        let link = link.map(|link| (link.name.clone(), link.index, link.mtu()));
        async move {
            let Some((name, index, mtu)) = link else {
                let detail = format!("no route leads to {ip}");
                let next = "correct probe.peers, or give the node a route";
                return Finding::failed(Wire::Mtu, &ip.to_string(), detail, next);
            };
            match ask(ip, index, mtu).await {
                Ok(passed) => told(ip, &name, mtu, passed),
                Err(error) => {
                    let detail = format!("{ip} on {name} cannot be asked: {error}");
                    Finding::new(Wire::Mtu, &ip.to_string(), Verdict::Unknown, detail)
                }
            }
        }
    };
    findings.extend(futures_util::future::join_all(targets.into_iter().map(one)).await);
    findings
}

async fn ask(ip: IpAddr, index: u32, mtu: u32) -> std::io::Result<Passed> {
    let mut echo = Echo::to(ip, index)?;
    // The full size first: on a good wire it is the only packet.
    if echo.passes(mtu, 1).await? {
        return Ok(Passed::Full);
    }
    if !echo.passes(SMALL, 2).await? {
        return Ok(Passed::Nothing);
    }
    // Other packets pass, so a lost one is not the reason.
    if echo.passes(mtu, 2).await? {
        return Ok(Passed::Full);
    }
    for size in COMMON.into_iter().filter(|size| *size < mtu) {
        if echo.passes(size, 1).await? {
            return Ok(Passed::Less(Some(size)));
        }
    }
    Ok(Passed::Less(None))
}

fn told(ip: IpAddr, link: &str, mtu: u32, passed: Passed) -> Finding {
    let target = ip.to_string();
    match passed {
        Passed::Full => {
            let detail = format!("{ip} on {link}: {mtu} bytes pass");
            Finding::new(Wire::Mtu, &target, Verdict::Ok, detail)
        }
        Passed::Nothing => {
            let detail = format!("{ip} on {link} answers no ICMP, which a network may refuse");
            Finding::new(Wire::Mtu, &target, Verdict::Unknown, detail)
        }
        Passed::Less(size) => {
            let known = size.map(|size| format!(" ({size} do)")).unwrap_or_default();
            let detail = format!(
                "{ip} on {link} answers small packets, and {mtu} bytes do not pass{known}: a switch's \
                 port, or the other end, has a smaller MTU"
            );
            let next = format!(
                "raise the MTU of the switch's ports and of {ip}, or lower `mtu` of {link} in the document"
            );
            Finding::failed(Wire::Mtu, &target, detail, &next)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_no_fault_and_a_size_is() {
        let ip: IpAddr = [192, 0, 2, 1].into();
        let told = |passed| told(ip, "br-ex", 9000, passed);
        assert_eq!(told(Passed::Full).result, Verdict::Ok);
        assert_eq!(told(Passed::Nothing).result, Verdict::Unknown);
        let less = told(Passed::Less(Some(1500)));
        assert_eq!(less.result, Verdict::Failed);
        assert!(less.detail.contains("9000 bytes do not pass (1500 do)"), "{less:?}");
    }
}

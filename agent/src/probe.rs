//! Proof that the node can be reached: gateway, DNS, API, own targets.

mod answer;
mod api;
mod custom;
mod dns;
mod gateway;
mod icmp;

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use self::answer::Answer;
use crate::{
    client::netlink::Netlink,
    paths::Paths,
    settings::{Policy, Probes},
    wants::Gateway,
};

/// What is probed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// This default gateway, which the document names.
    NamedGateway(Gateway),
    /// The default gateway of either family, whichever there is.
    Gateway,
    /// Any of the configured name servers and these.
    Dns { servers: Vec<IpAddr>, name: String },
    /// `host:port`.
    Tcp(String),
    /// A URL.
    Http(String),
}

/// A probe with its policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) policy: Policy,
}

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProbeResult {
    pub(crate) name: String,
    pub(crate) ok: bool,
    /// What answered, or why not.
    pub(crate) detail: String,
    pub(crate) milliseconds: u64,
}

/// The probes that a document and the settings ask for.
pub(crate) fn plan(
    settings: &Probes,
    gateways: &[Gateway],
    servers: &[IpAddr],
    paths: &Paths,
) -> Vec<Probe> {
    let mut plan = Vec::new();
    if settings.gateway != Policy::Off {
        for gateway in gateways {
            plan.push(Probe {
                name: format!("gateway {}", gateway.ip),
                kind: Kind::NamedGateway(gateway.clone()),
                policy: Policy::Required,
            });
        }
        if gateways.is_empty() {
            let (name, kind) = ("gateway".to_owned(), Kind::Gateway);
            plan.push(Probe { name, kind, policy: settings.gateway });
        }
    }
    let dns = Kind::Dns { servers: servers.to_vec(), name: settings.dns_name.clone() };
    plan.push(Probe { name: "dns".to_owned(), kind: dns, policy: settings.dns });
    if let Some(address) = settings.api_address.clone().or_else(|| api::address(paths)) {
        let kind = Kind::Tcp(address);
        plan.push(Probe { name: "api".to_owned(), kind, policy: settings.api });
    }
    plan.extend(settings.target.iter().map(|target| Probe {
        name: target.name.clone(),
        kind: match &target.reach {
            crate::settings::Reach::Tcp(address) => Kind::Tcp(address.clone()),
            crate::settings::Reach::Http(url) => Kind::Http(url.clone()),
        },
        policy: target.policy,
    }));
    plan.retain(|p| p.policy != Policy::Off);
    plan
}

/// The probes to ask beforehand: those that decide by comparison, and the gateway in use, which
/// tells after a roll back whether the old network is back.
pub(crate) fn baseline(plan: &[Probe]) -> Vec<Probe> {
    let mut before: Vec<Probe> =
        plan.iter().filter(|p| p.policy == Policy::IfItWorkedBefore).cloned().collect();
    if !before.iter().any(|p| p.kind == Kind::Gateway) {
        before.push(gateway_in_use());
    }
    before
}

/// The default gateways in use, whatever the document says.
pub(crate) fn gateway_in_use() -> Probe {
    let (name, kind) = ("gateway".to_owned(), Kind::Gateway);
    Probe { name, kind, policy: Policy::IfItWorkedBefore }
}

/// Which probes must answer after the change, by what answered before.
pub(crate) fn decisive<'a>(plan: &'a [Probe], before: &[ProbeResult]) -> Vec<&'a Probe> {
    plan.iter()
        .filter(|p| match p.policy {
            Policy::Required => true,
            Policy::IfItWorkedBefore => before.iter().any(|b| b.name == p.name && b.ok),
            Policy::Off => false,
        })
        .collect()
}

/// Asks all at once, each until it answers or `bound` has passed.
pub(crate) async fn run(
    probes: &[Probe],
    bound: Duration,
    paths: &Paths,
    netlink: &Netlink,
) -> Vec<ProbeResult> {
    let one = |probe: Probe| async move {
        let start = Instant::now();
        let (ok, detail) = match until_answer(&probe.kind, bound, paths, netlink).await {
            Ok(detail) => (true, detail),
            Err(detail) => (false, detail),
        };
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        ProbeResult { name: probe.name, ok, detail, milliseconds }
    };
    futures_util::future::join_all(probes.iter().cloned().map(one)).await
}

/// Between two attempts at a target that refuses at once.
const AGAIN: Duration = Duration::from_millis(200);

async fn until_answer(kind: &Kind, bound: Duration, paths: &Paths, netlink: &Netlink) -> Answer {
    let deadline = tokio::time::Instant::now() + bound;
    let mut last = None;
    loop {
        match tokio::time::timeout_at(deadline, once(kind, paths, netlink)).await {
            Ok(Ok(detail)) => return Ok(detail),
            Ok(Err(detail)) => last = Some(detail),
            Err(_) => return Err(last.unwrap_or_else(|| silence(bound))),
        }
        if tokio::time::Instant::now() + AGAIN >= deadline {
            return Err(last.unwrap_or_else(|| silence(bound)));
        }
        tokio::time::sleep(AGAIN).await;
    }
}

fn silence(bound: Duration) -> String {
    format!("no answer within {:.1} s", bound.as_secs_f64())
}

async fn once(kind: &Kind, paths: &Paths, netlink: &Netlink) -> Answer {
    match kind {
        Kind::NamedGateway(gateway) => gateway::named(gateway, netlink).await,
        Kind::Gateway => gateway::any(netlink).await,
        Kind::Dns { servers, name } => dns::any(servers, name, paths).await,
        Kind::Tcp(address) => api::connect(address).await,
        Kind::Http(url) => custom::get(url).await,
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Probe, ProbeResult, baseline, decisive, plan};
    use crate::{
        paths::Paths,
        settings::{Policy, Probes},
        wants::Gateway,
    };

    fn gateway() -> Gateway {
        Gateway { link: None, ip: std::net::Ipv4Addr::new(192, 0, 2, 1).into() }
    }

    #[test]
    fn a_named_gateway_is_required_and_the_one_in_use_is_asked_before() {
        let plan = plan(&Probes::default(), &[gateway()], &[], &Paths::new("/nowhere"));
        assert_eq!(plan.iter().filter(|p| p.policy == Policy::Required).count(), 1);
        assert!(baseline(&plan).iter().any(|p| p.kind == Kind::Gateway));
        assert!(baseline(&plan).iter().all(|p| p.policy == Policy::IfItWorkedBefore));
    }

    #[test]
    fn off_is_off() {
        let off = Probes {
            gateway: Policy::Off,
            dns: Policy::Off,
            api: Policy::Off,
            api_address: Some("192.0.2.1:6443".to_owned()),
            ..Probes::default()
        };
        assert!(plan(&off, &[gateway()], &[], &Paths::new("/nowhere")).is_empty());
    }

    #[test]
    fn what_did_not_work_before_does_not_decide() {
        let probe = |policy| Probe { name: "api".to_owned(), kind: Kind::Gateway, policy };
        let before = |ok| {
            [ProbeResult { name: "api".to_owned(), ok, detail: String::new(), milliseconds: 0 }]
        };
        let plan = [probe(Policy::IfItWorkedBefore)];
        assert!(decisive(&plan, &before(false)).is_empty());
        assert_eq!(decisive(&plan, &before(true)).len(), 1);
        assert_eq!(decisive(&[probe(Policy::Required)], &[]).len(), 1);
    }
}

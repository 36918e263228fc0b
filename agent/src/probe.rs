//! Probes of the node's connectivity: gateway, DNS, API, custom targets.

mod answer;
mod api;
mod custom;
mod dns;
mod gateway;
mod icmp;
pub(crate) mod wire;

use std::{
    collections::BTreeSet,
    net::IpAddr,
    time::{Duration, Instant},
};

use self::{
    answer::{Answered, NoAnswer, Targets},
    gateway::GatewayQuestion,
    wire::{Asked, Verdict, Wire},
};
use crate::{
    client::netlink::{Netlink, NetlinkError},
    model::{Family, Gateway, Link, LinkRef, NameServer, Planned, ProbeResult},
    paths::Paths,
    settings::{Policy, Probes},
    warn::OrWarn as _,
};

/// Reads an answer of a name server and of a gateway, and as lines of `resolv.conf`.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn reads_answers(bytes: &[u8]) {
    dns::reads(bytes);
    for is_v4 in [false, true] {
        // A reply of whatever length is one to its own id only.
        let is_of = |id: [u8; 2]| icmp::is_reply(bytes, is_v4, &id);
        assert!(!(is_of([0, 1]) && is_of([0, 2])));
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Gateway(GatewayQuestion),
    /// Any of the configured name servers or of these. Without one it waits for NetworkManager's, if they are `awaited`.
    Dns {
        servers: Vec<NameServer>,
        name: String,
        awaited: bool,
    },
    /// `host:port`.
    Tcp(String),
    Http(String),
    /// The wire; without `awaited` one look is enough.
    Wire {
        wire: Wire,
        asked: Asked,
        awaited: bool,
    },
    /// Addresses that the node is about to have: nobody else has one.
    Planned(Vec<Planned>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Probe {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) policy: Policy,
}

impl Probe {
    pub(crate) fn is_of_a_gateway(&self) -> bool {
        matches!(self.kind, Kind::Gateway(_))
    }

    /// Whether this asks whatever gateway the family has.
    pub(crate) fn is_gateway_of(&self, family: Family) -> bool {
        matches!(&self.kind, Kind::Gateway(gateway) if gateway.named.is_empty() && gateway.family == Some(family))
    }
}

/// The probes of a document and the settings.
pub(crate) fn plan(
    settings: &Probes,
    gateways: &[Gateway],
    servers: &[NameServer],
    paths: &Paths,
) -> Vec<Probe> {
    let mut plan = Vec::new();
    if settings.gateway != Policy::Off {
        for family in Family::ALL {
            let named: Vec<Gateway> =
                gateways.iter().filter(|g| Family::of(g.ip) == family).cloned().collect();
            if !named.is_empty() {
                let ips: Vec<String> = named.iter().map(|g| g.ip.to_string()).collect();
                plan.push(Probe {
                    name: format!("gateway {}", ips.join(" or ")),
                    kind: Kind::Gateway(GatewayQuestion { named, ..question(Some(family), &[]) }),
                    policy: Policy::Required,
                });
            } else if gateways.is_empty() {
                plan.push(Probe { policy: settings.gateway, ..gateway(family, &[]) });
            }
        }
    }
    let name = settings.dns_name.clone();
    let dns = Kind::Dns { servers: servers.to_vec(), name, awaited: true };
    plan.push(Probe { name: "dns".to_owned(), kind: dns, policy: settings.dns });
    if let Some(address) = api_address(settings, paths) {
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
    plan.extend(Wire::ALL.into_iter().map(|wire| Probe {
        name: wire.name().to_owned(),
        kind: Kind::Wire { wire, asked: Asked::of(settings), awaited: true },
        policy: wire.policy(settings),
    }));
    plan.retain(|p| p.policy != Policy::Off);
    plan
}

/// Probes before the change: those with the policy `if-it-worked-before`, and the gateways in use,
/// which prove after a roll back that the old network is back.
pub(crate) fn baseline(plan: &[Probe]) -> Vec<Probe> {
    let compared = plan.iter().filter(|probe| probe.policy == Policy::IfItWorkedBefore);
    let compared = compared.filter(|probe| !probe.is_of_a_gateway());
    let in_use = Family::ALL.map(|family| gateway(family, &[]));
    compared.cloned().chain(in_use).map(at_once).collect()
}

/// The name of the question for addresses that nobody uses yet.
const NEW_ADDRESSES: &str = "new addresses";

/// The question whether another machine has one of these addresses, before this node uses it; none without the probe.
pub(crate) fn of_planned(settings: &Probes, planned: Vec<Planned>) -> Option<Probe> {
    let policy = Wire::Duplicate.policy(settings);
    let name = NEW_ADDRESSES.to_owned();
    let is_asked = policy != Policy::Off && !planned.is_empty();
    is_asked.then_some(Probe { name, kind: Kind::Planned(planned), policy })
}

/// The result for the planned addresses, if another machine has one of them; and whether that stops the change. Under
/// `if-it-worked-before` it does not if an address of the node was duplicated before already.
pub(crate) fn taken(settings: &Probes, before: &[ProbeResult]) -> Option<(ProbeResult, bool)> {
    let found = before.iter().find(|result| result.name == NEW_ADDRESSES && !result.ok)?;
    let stops = match Wire::Duplicate.policy(settings) {
        Policy::Required => true,
        Policy::IfItWorkedBefore => answer_of(before, Wire::Duplicate.name()).is_some(),
        Policy::Off => false,
    };
    Some((found.clone(), stops))
}

/// Returns the result of the probe of this name, if it answered.
fn answer_of<'r>(results: &'r [ProbeResult], name: &str) -> Option<&'r ProbeResult> {
    results.iter().find(|result| result.name == name && result.ok)
}

/// Asks once, without waiting: before the change, nothing is about to bring a route or a name server, or to mend the wire.
fn at_once(mut probe: Probe) -> Probe {
    if let Kind::Gateway(GatewayQuestion { waits_for_route: awaited, .. })
    | Kind::Dns { awaited, .. }
    | Kind::Wire { awaited, .. } = &mut probe.kind
    {
        *awaited = false;
    }
    probe
}

/// The gateways that answered before the change, each on its link, independent of the document.
pub(crate) fn gateways_of(before: &[ProbeResult]) -> Vec<Probe> {
    let asked = Family::ALL.into_iter().filter_map(|family| {
        let answered = answer_of(before, &name_of_gateway(family))?;
        let links: Vec<LinkRef> = answered.link.iter().cloned().map(LinkRef::Name).collect();
        Some(gateway(family, &links))
    });
    asked.collect()
}

/// The default gateways in use on these links (on any, without links), independent of the document and of earlier answers. A
/// storage network's gateway proves nothing for br-ex.
pub(crate) fn gateways_in_use(links: &[LinkRef]) -> Probe {
    let (name, kind) = ("gateway".to_owned(), Kind::Gateway(question(None, links)));
    Probe { name, kind, policy: Policy::Required }
}

/// Why no gateway in use on these links answers; `None` if one of each family does.
pub(crate) async fn silent(
    links: &[LinkRef],
    bound: Duration,
    paths: &Paths,
    netlink: &Netlink,
) -> Option<String> {
    let answers = run(&[gateways_in_use(links)], bound, paths, netlink).await;
    answers.into_iter().find(|answer| !answer.ok).map(|answer| answer.detail)
}

/// The question for whatever gateway the family has on these links.
fn gateway(family: Family, links: &[LinkRef]) -> Probe {
    let (name, kind) = (name_of_gateway(family), Kind::Gateway(question(Some(family), links)));
    Probe { name, kind, policy: Policy::IfItWorkedBefore }
}

fn name_of_gateway(family: Family) -> String {
    format!("{family} gateway")
}

fn question(family: Option<Family>, links: &[LinkRef]) -> GatewayQuestion {
    GatewayQuestion { family, links: links.to_vec(), named: Vec::new(), waits_for_route: true }
}

/// The probes that must answer after the change, given the results before it; `leads` are the links that may get a default
/// route from the network.
pub(crate) fn decisive(
    plan: &[Probe],
    before: &[ProbeResult],
    leads: &[(Family, LinkRef)],
) -> Vec<Probe> {
    let asked = plan.iter().filter(|p| match p.policy {
        Policy::Required => true,
        Policy::IfItWorkedBefore => answer_of(before, &p.name).is_some(),
        Policy::Off => false,
    });
    asked.cloned().map(|probe| on_its_links(probe, before, leads)).collect()
}

/// The probes that failed after the change and count only if they worked before, to be asked on the network before it.
pub(crate) fn control(plan: &[Probe], failed: &[ProbeResult]) -> Vec<Probe> {
    let has_failed = |probe: &&Probe| failed.iter().any(|result| result.name == probe.name);
    let compared = plan.iter().filter(|probe| probe.policy == Policy::IfItWorkedBefore);
    compared.filter(has_failed).cloned().map(at_once).collect()
}

pub(crate) fn of_both_families(links: &[LinkRef]) -> Vec<(Family, LinkRef)> {
    links.iter().flat_map(|link| Family::ALL.map(|family| (family, link.clone()))).collect()
}

/// The gateway of a network that leads out by itself is asked on its links and on the one that led out before: the answer of
/// another card's, such as a storage network's, proves nothing. It is asked on any where one of both is unknown.
fn on_its_links(mut probe: Probe, before: &[ProbeResult], leads: &[(Family, LinkRef)]) -> Probe {
    if let Kind::Gateway(GatewayQuestion { family: Some(family), links, named, .. }) =
        &mut probe.kind
        && named.is_empty()
    {
        let answered = answer_of(before, &probe.name);
        let answered = answered.and_then(|answer| answer.link.clone()).map(LinkRef::Name);
        let own = leads.iter().filter(|(of, _)| of == family).map(|(_, link)| link.clone());
        *links = own.collect();
        match answered {
            Some(link) if !links.is_empty() => links.push(link),
            Some(_) | None => links.clear(),
        }
    }
    probe
}

/// Runs all at once, each until it answers or `bound` has passed.
pub(crate) async fn run(
    probes: &[Probe],
    bound: Duration,
    paths: &Paths,
    netlink: &Netlink,
) -> Vec<ProbeResult> {
    let one = |probe: Probe| async move {
        let start = Instant::now();
        let targets = Targets::default();
        let answer = until_answer(&probe.kind, &targets, bound, paths, netlink).await;
        let (ok, answered) = match answer {
            Ok(answered) => (true, answered),
            Err(why) => (false, Answered::from(why + &ways(targets.into_inner(), netlink).await)),
        };
        let Answered { detail, warning, link } = answered;
        let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
        ProbeResult { name: probe.name, ok, detail, warning, link, milliseconds }
    };
    futures_util::future::join_all(probes.iter().cloned().map(one)).await
}

/// The targets of a silent probe whose way is named.
const WAYS: usize = 4;

/// The time for the kernel's answers about them, beyond the probe's own.
const KERNEL: Duration = Duration::from_secs(1);

/// Returns the way that the kernel gives packets to each target that did not answer: a route that somebody has added leads
/// elsewhere than the document's.
async fn ways(targets: BTreeSet<IpAddr>, netlink: &Netlink) -> String {
    let named = async {
        let links = netlink.links().await?;
        let mut named = String::new();
        for ip in targets.into_iter().take(WAYS) {
            named += &match netlink.way_to(ip, &links).await? {
                Some(way) => match added_route(ip, &links, netlink).await? {
                    Some(added) => format!("; packets to {ip} leave {way}, by {added}"),
                    None => format!("; packets to {ip} leave {way}"),
                },
                None => format!("; no route leads to {ip}"),
            };
        }
        Ok::<_, NetlinkError>(named)
    };
    const UNKNOWN: &str = "the way of packets is not known";
    let answered = tokio::time::timeout(KERNEL, named).await.or_warn_of(UNKNOWN);
    answered.and_then(|named| named.or_warn_of(UNKNOWN)).unwrap_or_default()
}

/// Returns the route of packets to this address if no configuration has it, with the command that removes it.
async fn added_route(
    ip: IpAddr,
    links: &[Link],
    netlink: &Netlink,
) -> Result<Option<String>, NetlinkError> {
    let command = netlink.removal_of_added_route(ip, links).await?;
    Ok(command.map(|command| format!("a route of no configuration: `{command}` removes it")))
}

/// Returns the routes of packets to the API that no configuration has; nothing is sent to it.
///
/// # Errors
/// The kernel does not answer.
pub(crate) async fn added_routes_to_api(
    settings: &Probes,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Vec<String>, NetlinkError> {
    let Some(address) = api_address(settings, paths) else { return Ok(Vec::new()) };
    let links = netlink.links().await?;
    let mut found = Vec::new();
    for ip in api::targets(&address).await {
        let added = added_route(ip, &links, netlink).await?;
        found.extend(added.map(|added| format!("packets to the API ({ip}) leave by {added}")));
    }
    Ok(found)
}

fn api_address(settings: &Probes, paths: &Paths) -> Option<String> {
    settings.api_address.clone().or_else(|| api::address(paths))
}

/// Pause between two attempts at a target that refuses immediately.
const AGAIN: Duration = Duration::from_millis(200);

async fn until_answer(
    kind: &Kind,
    targets: &Targets,
    bound: Duration,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Answered, String> {
    let deadline = tokio::time::Instant::now() + bound;
    let mut last = None;
    loop {
        match tokio::time::timeout_at(deadline, once(kind, targets, paths, netlink)).await {
            Ok(Ok(answered)) => return Ok(answered),
            Ok(Err(NoAnswer::Ever(why))) => return Err(why),
            Ok(Err(NoAnswer::Yet(why))) => last = Some(why),
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

async fn once(
    kind: &Kind,
    targets: &Targets,
    paths: &Paths,
    netlink: &Netlink,
) -> Result<Answered, NoAnswer> {
    let answer = match kind {
        Kind::Gateway(question) => return question.ask(netlink).await,
        Kind::Dns { servers, name, awaited } => {
            let servers = dns::all(servers, paths);
            if servers.is_empty() && !awaited {
                return Err(NoAnswer::Ever(dns::NONE.to_owned()));
            }
            let on_any_link = servers.iter().filter(|server| server.scope.is_none());
            targets.replace(on_any_link.map(|server| server.ip).collect());
            dns::any(&servers, name, netlink).await
        }
        Kind::Tcp(address) => api::connect(address, targets).await,
        Kind::Http(url) => custom::get(url, targets).await,
        Kind::Wire { wire, asked, awaited } => {
            let found =
                wire::look(&[*wire], asked, paths, netlink).await.map_err(|e| nmgen::chain(&e))?;
            return told(&found)
                .map_err(|why| if *awaited { NoAnswer::Yet(why) } else { NoAnswer::Ever(why) });
        }
        Kind::Planned(planned) => {
            let found = wire::before_use(planned, paths, netlink).await;
            return told(&found.map_err(|e| nmgen::chain(&e))?).map_err(NoAnswer::Ever);
        }
    };
    Ok(answer?.into())
}

/// The findings of one probe of the wire as its answer. Who does not answer proves nothing, and is a warning.
fn told(found: &[wire::Finding]) -> Result<Answered, String> {
    let of = |result: Verdict| {
        let all = found
            .iter()
            .filter(move |finding| finding.result == result)
            .map(|finding| finding.detail.as_str());
        all.collect::<Vec<&str>>().join("; ")
    };
    let failed = found.iter().filter(|finding| finding.result == Verdict::Failed);
    let failed: Vec<String> = failed
        .map(|finding| match &finding.next {
            Some(next) => format!("{}; {next}", finding.detail),
            None => finding.detail.clone(),
        })
        .collect();
    if !failed.is_empty() {
        return Err(failed.join("; "));
    }
    let (good, unknown) = (of(Verdict::Ok), of(Verdict::Unknown));
    let detail = if good.is_empty() { "nothing to ask".to_owned() } else { good };
    Ok(Answered {
        detail,
        warning: Some(unknown).filter(|warning| !warning.is_empty()),
        link: None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Family, Kind, Probe, ProbeResult, baseline, decisive, gateways_of, plan};
    use crate::{
        model::{Gateway, LinkRef},
        paths::Paths,
        settings::{Policy, Probes},
    };

    fn gateway() -> Gateway {
        Gateway { link: None, ip: std::net::Ipv4Addr::new(192, 0, 2, 1).into() }
    }

    #[test]
    fn a_named_gateway_is_required_and_the_one_in_use_is_asked_before() {
        let plan = plan(&Probes::default(), &[gateway()], &[], &Paths::new("/nowhere"));
        assert_eq!(plan.iter().filter(|p| p.policy == Policy::Required).count(), 1);
        assert!(baseline(&plan).iter().any(|p| p.is_gateway_of(Family::Ipv4)));
        assert!(baseline(&plan).iter().all(|p| p.policy == Policy::IfItWorkedBefore));
    }

    #[test]
    fn name_servers_are_awaited_after_the_change_alone() {
        let plan = plan(&Probes::default(), &[], &[], &Paths::new("/nowhere"));
        let awaits = |probes: &[Probe]| -> Vec<bool> {
            let kinds = probes.iter().map(|probe| &probe.kind);
            kinds
                .filter_map(|kind| {
                    if let Kind::Dns { awaited, .. } = kind { Some(*awaited) } else { None }
                })
                .collect()
        };
        assert_eq!((awaits(&plan), awaits(&baseline(&plan))), (vec![true], vec![false]));
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_name_server_before_the_change_nothing_waits() {
        let Ok(netlink) = crate::client::netlink::Netlink::connect() else { return };
        let (bound, paths) = (std::time::Duration::from_secs(5), Paths::new("/nowhere"));
        for (awaited, at_once) in [(false, true), (true, false)] {
            let kind = Kind::Dns { servers: Vec::new(), name: ".".to_owned(), awaited };
            let dns = Probe { name: "dns".to_owned(), kind, policy: Policy::Required };
            let start = tokio::time::Instant::now();
            let answers = super::run(&[dns], bound, &paths, &netlink).await;
            assert_eq!(answers[0].detail, super::dns::NONE);
            assert_eq!(start.elapsed() < bound / 2, at_once, "{:?}", start.elapsed());
        }
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
        let probe = |policy| Probe {
            name: "api".to_owned(),
            kind: super::gateway(Family::Ipv4, &[]).kind,
            policy,
        };
        let before = |ok| {
            [ProbeResult {
                name: "api".to_owned(),
                ok,
                detail: String::new(),
                warning: None,
                link: None,
                milliseconds: 0,
            }]
        };
        let plan = [probe(Policy::IfItWorkedBefore)];
        assert!(decisive(&plan, &before(false), &[]).is_empty());
        assert_eq!(decisive(&plan, &before(true), &[]).len(), 1);
        assert_eq!(decisive(&[probe(Policy::Required)], &[], &[]).len(), 1);
    }

    #[test]
    fn another_cards_gateway_proves_nothing() {
        let name = |link: &str| LinkRef::Name(link.to_owned());
        let kind = |links: &[&str]| {
            let links: Vec<LinkRef> = links.iter().map(|link| name(link)).collect();
            vec![super::gateway(Family::Ipv4, &links).kind]
        };
        let before = |link: Option<&str>| {
            [ProbeResult {
                name: "IPv4 gateway".to_owned(),
                ok: true,
                detail: String::new(),
                warning: None,
                link: link.map(str::to_owned),
                milliseconds: 0,
            }]
        };
        let kinds = |probes: Vec<Probe>| -> Vec<Kind> {
            probes.into_iter().map(|probe| probe.kind).collect()
        };
        let leads = [(Family::Ipv4, name("br-ex")), (Family::Ipv6, name("eno3"))];
        for (leads, link, expected) in [
            (&leads[..], Some("eno1"), kind(&["br-ex", "eno1"])),
            // The journal of version 0.2; a document that leaves the way out to others.
            (&leads[..], None, kind(&[])),
            (&[], Some("eno1"), kind(&[])),
        ] {
            let plan = plan(&Probes::default(), &[], &[], &Paths::new("/nowhere"));
            assert_eq!(kinds(decisive(&plan, &before(link), leads)), expected);
        }
        assert_eq!(kinds(gateways_of(&before(Some("eno1")))), kind(&["eno1"]));
        assert_eq!(kinds(gateways_of(&before(None))), kind(&[]));
    }

    #[test]
    fn several_gateways_of_a_family_are_one_probe() {
        let ips = ["192.0.2.1", "192.0.2.3", "2001:db8::1"];
        let gateways = ips.map(|ip| Gateway { link: None, ip: ip.parse().expect("an address") });
        let plan = plan(&Probes::default(), &gateways, &[], &Paths::new("/nowhere"));
        let names: Vec<&str> = plan.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["gateway 192.0.2.1 or 192.0.2.3", "gateway 2001:db8::1", "dns"]);
    }

    #[test]
    fn each_family_counts_by_itself() {
        let plan = plan(&Probes::default(), &[], &[], &Paths::new("/nowhere"));
        let before: Vec<ProbeResult> = baseline(&plan)
            .iter()
            .map(|probe| ProbeResult {
                name: probe.name.clone(),
                ok: probe.is_gateway_of(Family::Ipv4),
                detail: String::new(),
                warning: None,
                link: None,
                milliseconds: 0,
            })
            .collect();
        let after: Vec<Kind> = decisive(&plan, &before, &[]).into_iter().map(|p| p.kind).collect();
        assert_eq!(after, [super::gateway(Family::Ipv4, &[]).kind]);
        assert_eq!(gateways_of(&before).len(), 1);
    }
}

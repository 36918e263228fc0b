//! From a host's early document alone: its profiles, then the derived document, and the same network on br-ex; then the automatic
//! bridge in the document's place.

use std::collections::BTreeMap;

use tests::{
    dayone::{
        ADDRESS, ADDRESS6, HOST_FILE, MAC, SOON, automatic, exports, outcome, settle, try_document,
    },
    derived::{Network, OWN_NETWORK, document, in_userspace, metrics, profiles},
    lab::{Case, Error, Inside, Lab, Nic, Node, Peer},
};

use crate::bridge::{GATE, bridge_attempt, held_back};

const DEFAULT: &str =
    "{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1}";
const DEFAULT6: &str =
    "{destination: '::/0', next-hop-address: '2001:db8::1', next-hop-interface: eno1}";
const STATIC: &str = "ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}";
const STATIC6: &str = "ipv6: {enabled: true, address: [{ip: '2001:db8::10', prefix-length: 64}]}";
/// The routes to the networks of both.
const NETWORK: &str = "192.0.2.0/24 scope link src 192.0.2.10";
const NETWORK6: &str = "2001:db8::/64";
/// The network of an IPv4 address is complete with its default route.
const READY: &str = "ip route show default | grep -q 'dev eno1'";
/// Duplicate address detection is over.
const READY6: &str = "ip -6 route show default | grep -q 'dev eno1' && \
     ip -6 address show dev eno1 scope global -tentative | grep -q inet6";

/// A host's network, described once.
struct Host {
    early: String,
    /// The uplink's device.
    device: &'static str,
    /// Succeeds once the uplink's network is complete.
    ready: String,
    nics: Vec<Nic>,
}

/// A host with one card.
fn host(ip: &str, rest: &str) -> Host {
    Host {
        early: format!(
            "interfaces:\n- {{name: eno1, type: ethernet, state: up, mtu: 1400, {ip}}}\n{rest}\n"
        ),
        device: "eno1",
        ready: READY.to_owned(),
        nics: vec![Nic::new("eno1", MAC)],
    }
}

/// The metrics that differ between the derived document's routes and the automatic bridge's, by route.
fn differing(derived: &Network, automatic: &Network) -> BTreeMap<String, (u32, u32)> {
    let own = derived.routes.iter();
    let differing = own.filter_map(|(route, metric)| {
        let other = automatic.routes.get(route)?;
        (other != metric).then(|| (route.clone(), (*metric, *other)))
    });
    differing.collect()
}

impl Host {
    /// The node boots with the early profiles; with the derived document br-ex has what the uplink had, and so has the automatic
    /// bridge, but for the metric of these static networks.
    fn moves(
        &self,
        peer: &Peer,
        networks: &[&str],
        then: impl Fn(&Case<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let lab = Lab::open()?;
        let profiles = profiles(&self.early).expect("early profiles");
        let text = in_userspace(&document(&self.early, None).expect("a derived document"));
        let node = self.nics.iter().cloned().fold(Node::new("worker-0"), Node::nic);
        let node = profiles.iter().fold(node, |node, (file, profile)| {
            node.keyfile(file.trim_end_matches(".nmconnection"), profile)
        });
        lab.run(held_back(automatic(node)), peer, |case| {
            let inside = case.boot()?;
            outcome(&inside, None)?;
            settle(&inside)?;
            let before = self.network(&inside, self.device)?;
            assert_eq!(before.link, format!("{MAC}\n1400"));
            exports(&inside)?;

            try_document(&inside, &text)?.exits(0);
            let derived = self.on_bridge(&inside, &before)?;
            let diff = inside.run(&["dayone", "diff"])?;
            assert!(diff.stdout.ends_with("\n# no difference\n"), "{diff}");
            exports(&inside)?;
            then(case)?;

            inside.sh(&format!("rm {HOST_FILE}; touch {GATE}"))?;
            bridge_attempt(&inside)?.exits(0);
            let automatic = self.on_bridge(&inside, &before)?;
            let expected =
                networks.iter().map(|network| ((*network).to_owned(), metrics(OWN_NETWORK)));
            assert_eq!(differing(&derived, &automatic), expected.collect(), "{automatic:?}");
            exports(&inside)?;
            then(case)
        })
    }

    fn network(&self, inside: &Inside, device: &str) -> Result<Network, Error> {
        inside.wait_sh(&self.ready.replace(self.device, device), 2 * SOON)?;
        Network::of(inside, device)
    }

    /// Checks that br-ex has the early network, and the uplink no address.
    fn on_bridge(&self, inside: &Inside, before: &Network) -> Result<Network, Error> {
        let now = self.network(inside, "br-ex")?;
        assert_eq!(now.link, before.link);
        assert_eq!(now.addresses, before.addresses);
        assert_eq!(now.dns, before.dns);
        assert_eq!(now.destinations(), before.destinations());
        assert_eq!(now.rules, before.rules);
        let device = self.device;
        assert_eq!(inside.sh(&format!("ip -oneline address show dev {device} scope global"))?, "");
        assert_eq!(inside.sh("ovs-vsctl list-ports br-ex")?, device);
        Ok(now)
    }
}

#[tests::case]
fn several_cards_with_metrics_tables_and_rules() -> Result<(), Error> {
    let rest = "\
- {name: eno2, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 198.18.0.10, prefix-length: 24}]}}
dns-resolver: {config: {server: [192.0.2.1], search: [lab.test]}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: eno1, metric: 100}
  - {destination: 203.0.113.0/24, next-hop-address: 192.0.2.2, next-hop-interface: eno1, metric: 300}
  - {destination: 198.51.100.0/25, next-hop-address: 192.0.2.3, next-hop-interface: eno1, table-id: 200}
  - {destination: 198.18.2.0/24, next-hop-address: 198.18.0.1, next-hop-interface: eno2}
route-rules:
  config:
  - {ip-from: 192.0.2.10/32, route-table: 200, priority: 1000, family: ipv4}";
    let mut host = host(STATIC, rest);
    host.nics.push(Nic::new("eno2", "52:54:00:00:00:02").segment("storage"));
    host.moves(&Peer::new(), &[NETWORK], |case| {
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        let other =
            case.inside()?.sh("ip -4 -oneline address show dev eno2; ip route show dev eno2")?;
        assert!(other.contains("198.18.0.10/24") && other.contains("198.18.2.0/24"), "{other}");
        Ok(())
    })
}

#[tests::case]
fn lease_of_a_card_that_the_document_knows_by_its_address() -> Result<(), Error> {
    let card =
        format!("identifier: mac-address, mac-address: {MAC}, ipv4: {{enabled: true, dhcp: true}}");
    let mut host = host(&card, "");
    host.early = host.early.replace("name: eno1", "name: uplink");
    host.moves(&Peer::new().dhcp(), &[], |case| {
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        Ok(())
    })
}

#[tests::case]
fn both_families() -> Result<(), Error> {
    let routes = format!("routes: {{config: [{DEFAULT}, {DEFAULT6}]}}");
    let mut host = host(&format!("{STATIC}, {STATIC6}"), &routes);
    host.ready = format!("{READY} && {READY6}");
    host.moves(&Peer::new(), &[NETWORK, NETWORK6], |case| {
        assert!(case.peer().pings(ADDRESS, SOON)? && case.peer().pings(ADDRESS6, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn both_families_from_the_network() -> Result<(), Error> {
    let ip = "ipv4: {enabled: true, dhcp: true}, ipv6: {enabled: true, dhcp: true, autoconf: true}";
    let mut host = host(ip, "");
    host.ready = format!("{READY} && {READY6}");
    host.moves(&Peer::new().dhcp().router_advertisements(), &[], |case| {
        let leases = case.peer().leases()?;
        assert_eq!(leases.len(), 1, "{leases:?}");
        Ok(())
    })
}

#[tests::case]
fn ipv6_alone() -> Result<(), Error> {
    let rest = format!(
        "dns-resolver: {{config: {{server: ['2001:db8::1']}}}}\nroutes: {{config: [{DEFAULT6}]}}"
    );
    let mut host = host(STATIC6, &rest);
    host.ready = READY6.to_owned();
    host.moves(&Peer::new(), &[NETWORK6], |case| {
        assert!(case.peer().pings(ADDRESS6, SOON)?);
        Ok(())
    })
}

#[tests::case]
fn linux_bridge() -> Result<(), Error> {
    let bridge = format!(
        "- {{name: br0, type: linux-bridge, state: up, mtu: 1400, mac-address: {MAC}, {STATIC}, bridge: {{options: {{stp: {{enabled: false}}}}, port: [{{name: eno1}}]}}}}\n\
         routes: {{config: [{}]}}",
        DEFAULT.replace("eno1", "br0")
    );
    let mut host = host("ipv4: {enabled: false}", &bridge);
    host.device = "br0";
    // Without its port's carrier the bridge's routes are there, but unused.
    host.ready = format!("{} && ! ip route | grep linkdown", READY.replace("eno1", "br0"));
    host.moves(&Peer::new(), &[NETWORK], |case| {
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

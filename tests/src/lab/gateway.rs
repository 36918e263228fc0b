//! The running peer.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{
    command::{run, run_with_input, wait_for},
    error::{Error, Result},
    frames::{self, FrameSender},
    listener::Listener,
    netns::Netns,
    node::Nic,
    peer::{Fault, LAN, Peer, ruleset},
};

/// A lease of the peer's DHCP server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// MAC address of the client.
    pub mac: String,
    /// The leased address.
    pub address: IpAddr,
    /// The client identifier, as dnsmasq writes it (`01:` and the MAC address, mostly).
    pub client_id: String,
}

/// The running peer.
#[derive(Debug)]
pub struct Gateway {
    // Declared before the namespace, so that they are dropped first.
    dnsmasq: Child,
    api: Option<Listener>,
    faults: BTreeSet<Fault>,
    netns: Netns,
    peer: Peer,
    leases: PathBuf,
}

impl Gateway {
    /// Starts the peer's services in a namespace with its segments.
    pub(crate) fn start(netns: Netns, peer: &Peer, state: &Path) -> Result<Self> {
        let settings = "for s in ipv4/ip_forward ipv4/conf/all/promote_secondaries ipv6/conf/all/forwarding; do echo 1 >/proc/sys/net/$s; done";
        run(netns.command("sh").args(["-c", settings]), Duration::from_secs(5))?.success()?;
        for (segment, address, prefix) in &peer.addresses {
            add_address(&netns, segment, *address, *prefix)?;
        }
        for address in &peer.api {
            add_address(&netns, LAN, *address, if address.is_ipv4() { 32 } else { 128 })?;
        }
        let api = Listener::start(&netns, peer.api_port)?;
        let leases = state.join("leases");
        let dnsmasq = start_dnsmasq(&netns, peer, &leases, &state.join("dnsmasq.log"))?;
        let gateway = Self {
            dnsmasq,
            api: Some(api),
            faults: BTreeSet::new(),
            netns,
            peer: peer.clone(),
            leases,
        };
        let dns = SocketAddr::new(Peer::GATEWAY.into(), 53);
        wait_for("the peer's name server", Duration::from_secs(5), || {
            Ok(gateway.connect(dns, Duration::from_secs(1))?.then_some(()))
        })?;
        Ok(gateway)
    }

    /// Switches a fault on or off, at once.
    pub fn fault(&mut self, fault: Fault, on: bool) -> Result<()> {
        if on {
            self.faults.insert(fault)
        } else {
            self.faults.remove(&fault)
        };
        let faults: Vec<_> = self.faults.iter().copied().collect();
        let mut nft = self.netns.command("nft");
        run_with_input(nft.args(["-f", "-"]), Duration::from_secs(5), &ruleset(&faults))?
            .success()?;
        Ok(())
    }

    /// Whether `address` answers an echo request within `limit`; returns as soon as it does.
    pub fn pings(&self, address: impl Into<IpAddr>, limit: Duration) -> Result<bool> {
        let address = address.into().to_string();
        let seconds = limit.as_secs().max(1).to_string();
        let arguments = ["-n", "-q", "-c1", "-i0.1", "-w", &seconds, &address];
        let output =
            run(self.netns.command("ping").args(arguments), limit + Duration::from_secs(5))?;
        Ok(output.status.success())
    }

    /// The MAC address that answers ARP or neighbour discovery for `address`, if one does; echo replies are not needed.
    pub fn mac_of(&self, address: impl Into<IpAddr>) -> Result<Option<String>> {
        let address = address.into();
        self.netns.ip(&["neigh", "flush", "to", &address.to_string()])?;
        self.pings(address, Duration::from_secs(1))?;
        let neighbour = self.netns.ip(&["neigh", "show", "to", &address.to_string()])?;
        let mut words = neighbour.split_whitespace();
        Ok(words.find(|word| *word == "lladdr").and_then(|_| words.next()).map(str::to_owned))
    }

    /// Whether the node accepts a TCP connection within `limit`.
    pub fn connect(&self, to: SocketAddr, limit: Duration) -> Result<bool> {
        self.netns.within(move || TcpStream::connect_timeout(&to, limit).is_ok())
    }

    /// The current leases.
    pub fn leases(&self) -> Result<Vec<Lease>> {
        let text = match fs::read_to_string(&self.leases) {
            Ok(text) => text,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(e) => return Err(Error::file("read", &self.leases)(e)),
        };
        // expiry, MAC, address, host name, client id; DHCPv6's lines follow the line that begins with "duid".
        let leases = text.lines().take_while(|line| !line.starts_with("duid")).filter_map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let mac = words.next()?.to_owned();
            let address = words.next()?.parse().ok()?;
            Some(Lease { mac, address, client_id: words.nth(1)?.to_owned() })
        });
        Ok(leases.collect())
    }

    /// The number of connections accepted by the API.
    pub fn api_connections(&self) -> usize {
        self.api.as_ref().map_or(0, Listener::accepted)
    }

    /// Waits until the API has accepted this many connections: a client is connected a moment before the listener counts it.
    pub fn wait_api_connections(&self, count: usize, limit: Duration) -> Result<()> {
        wait_for(&format!("connection {count} to the API"), limit, || {
            Ok((self.api_connections() >= count).then_some(()))
        })
    }

    /// Stops the API's listener: further connections are refused.
    pub fn stop_api(&mut self) {
        self.api = None;
    }

    /// Starts it again.
    pub fn start_api(&mut self) -> Result<()> {
        if self.api.is_none() {
            self.api = Some(Listener::start(&self.netns, self.peer.api_port)?);
        }
        Ok(())
    }

    /// Plugs or pulls the cable of a card at the peer's end.
    pub fn carrier(&self, nic: &str, on: bool) -> Result<()> {
        self.set_carrier(&port(nic), on)
    }

    fn set_carrier(&self, port: &str, on: bool) -> Result<()> {
        let state = if on { "up" } else { "down" };
        self.netns.ip(&["link", "set", port, state])?;
        Ok(())
    }

    /// The MTU of a card's cable at the peer's end: larger packets are lost.
    pub fn mtu(&self, nic: &str, mtu: &str) -> Result<()> {
        self.netns.ip(&["link", "set", &port(nic), "mtu", mtu])?;
        Ok(())
    }

    /// Adds an address on a segment, or takes it away.
    pub fn address(&self, segment: &str, address: IpAddr, prefix: u8, on: bool) -> Result<()> {
        if on {
            return add_address(&self.netns, segment, address, prefix);
        }
        self.netns.ip(&["addr", "del", &format!("{address}/{prefix}"), "dev", segment])?;
        Ok(())
    }

    /// Announces an address of another machine on a segment, or on a VLAN of it, every `pause` until the result is dropped.
    pub fn announce(
        &self,
        segment: &str,
        vlan: Option<u16>,
        address: Ipv4Addr,
        pause: Duration,
    ) -> Result<FrameSender> {
        let frames = vec![frames::announcement(vlan, address)];
        FrameSender::start(&self.netns, segment, frames, pause)
    }

    /// Answers echo requests that nobody sent, with all of these tokens, until the result is dropped.
    pub fn forge_echo_replies(
        &self,
        segment: &str,
        [from, to]: [Ipv4Addr; 2],
        tokens: impl Iterator<Item = [u8; 4]>,
    ) -> Result<FrameSender> {
        let frames = tokens.map(|token| frames::echo_reply(from, to, token)).collect();
        FrameSender::start(&self.netns, segment, frames, Duration::from_millis(50))
    }

    pub(crate) fn netns(&self) -> &Netns {
        &self.netns
    }

    /// A program of the host that runs in the peer's network namespace.
    pub fn command(&self, program: &str) -> Command {
        self.netns.command(program)
    }

    /// Connects a newly made card of the node.
    pub(crate) fn plug(&self, node: &Netns, nic: &Nic) -> Result<()> {
        let port = nic.port();
        // The name may still be in use by a namespace under removal.
        let _ = self.netns.ip(&["link", "del", &port]);
        node.ip(&[
            "link",
            "add",
            &nic.name,
            "address",
            &nic.mac,
            "type",
            "veth",
            "peer",
            "name",
            &port,
            "netns",
            self.netns.name(),
        ])?;
        // Otherwise packets reach Open vSwitch's userspace datapath without checksums.
        run(
            self.netns.command("ethtool").args(["-K", &port, "tx", "off"]),
            Duration::from_secs(5),
        )?
        .success()?;
        self.netns.ip(&["link", "set", &port, "master", &nic.segment])?;
        self.set_carrier(&port, nic.carrier)
    }

    /// Undoes [`Self::plug`].
    pub(crate) fn unplug(&self, nic: &Nic) {
        let _ = self.netns.ip(&["link", "del", &nic.port()]);
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.dnsmasq.kill();
        let _ = self.dnsmasq.wait();
    }
}

fn port(nic: &str) -> String {
    format!("p-{nic}")
}

fn add_address(netns: &Netns, segment: &str, address: IpAddr, prefix: u8) -> Result<()> {
    let address = format!("{address}/{prefix}");
    let nodad: &[&str] = if address.contains(':') { &["nodad"] } else { &[] };
    netns.ip(&[&["addr", "add", &address, "dev", segment], nodad].concat())?;
    Ok(())
}

fn start_dnsmasq(netns: &Netns, peer: &Peer, leases: &Path, log: &Path) -> Result<Child> {
    let api: Vec<String> = peer.api.iter().map(ToString::to_string).collect();
    let mut arguments = vec![
        "--keep-in-foreground".to_owned(),
        "--conf-file=/dev/null".into(),
        "--pid-file=".into(),
        "--user=root".into(),
        "--no-resolv".into(),
        "--no-hosts".into(),
        "--bind-dynamic".into(),
        format!("--interface={LAN}"),
        "--except-interface=lo".into(),
        "--local=/lab.test/".into(),
        format!("--host-record={},{}", Peer::API_NAME, api.join(",")),
        format!("--dhcp-leasefile={}", leases.display()),
        "--log-dhcp".into(),
        "--log-facility=-".into(),
    ];
    if let Some((first, last)) = peer.dhcp {
        // Without dnsmasq's ping of three seconds before an offer.
        arguments.extend(["--no-ping".into(), "--dhcp-authoritative".into()]);
        arguments.push(format!("--dhcp-range={first},{last},{}", peer.lease));
    }
    if let Some((mac, name)) = &peer.host_name {
        arguments.push(format!("--dhcp-host={mac},{name}"));
    }
    if let Some(mtu) = peer.mtu {
        arguments.push(format!("--dhcp-option=option:mtu,{mtu}"));
    }
    if peer.router_advertisements {
        arguments.push("--enable-ra".into());
        arguments.push(format!("--dhcp-range={},ra-only,64", "2001:db8::"));
    }
    let log = File::create(log).map_err(Error::file("create", log))?;
    let mut command = netns.command("dnsmasq");
    command.args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
    command.spawn().map_err(|source| Error::Spawn { program: "dnsmasq".into(), source })
}

//! The bootstrap machine: a random MAC address under a known prefix, a static address and a static route, no DHCP server.

use std::net::Ipv4Addr;

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{Ignition, SOON, static_address},
};

use crate::Result;

const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 20);

#[tests::case]
fn fetches_over_its_static_route() -> Result<()> {
    let machines = Machines::open()?;
    let ip = static_address(ADDRESS);
    let document = format!(
        "interfaces:
  - name: eth0
    type: ethernet
    state: up
{ip}    ipv6:
      enabled: false
routes:
  config:
    - destination: 198.51.100.0/24
      next-hop-address: 192.0.2.1
      next-hop-interface: eth0
"
    );
    // Any address with the file's first three bytes.
    let low = std::process::id().to_le_bytes();
    let mac = format!("52:54:00:{:02x}:{:02x}:{:02x}", low[0], low[1], low[2]);
    let config = Ignition::bare("bootstrap").text();
    // Only the static route leads to the server.
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", &mac))
        .early("/etc/nmgen/52-54-00.yml", &document)
        .ignition(&Peer::API.to_string(), &config);
    machines.run(&machine, &Peer::new(), |case| {
        case.power_on()?;
        // The machine has no other route to the server, and no other address.
        case.wait_requested("config.ign")?;
        let requests = case.requests()?;
        assert!(requests.contains(&ADDRESS.to_string()), "{requests}");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        Ok(())
    })
}

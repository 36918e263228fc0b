//! The lab itself: what every other case takes for granted.

use std::{net::Ipv4Addr, time::Duration};

use tests::lab::{Error, Fault, Lab, Nic, Node, Peer};

const MAC: &str = "52:54:00:00:00:01";
const ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 10);
const SOON: Duration = Duration::from_secs(5);

const STATIC: &str = "\
[connection]
id=eno1
uuid=0b6ba3d2-3ae1-4b37-8d5e-3f3c0b2fd001
type=ethernet
interface-name=eno1

[ipv4]
method=manual
address1=192.0.2.10/24,192.0.2.1
dns=192.0.2.1;

[ipv6]
method=manual
address1=2001:db8::10/64,2001:db8::1
may-fail=false
";

fn node() -> Node {
    Node::new("worker-0").nic(Nic::new("eno1", MAC))
}

#[test]
fn static_address_is_reached_by_the_peer() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    lab.run(node().keyfile("eno1", STATIC), &Peer::new(), |case| {
        let took = case.boot()?;
        println!("booted in {took:?}");
        assert_eq!(case.inside()?.unit("NetworkManager.service")?.active_state, "active");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}

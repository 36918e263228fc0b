//! A br-ex behind which the gateway is silent.

use tests::{
    dayone::{ADDRESS, ATTEMPT, MAC, SOON, bridge_outcome, kubelet_ran, mark, picture},
    lab::{Error, Fault, Peer},
};

use super::{node, old_network, start};

/// NetworkManager waits for this script before br-ex is up.
const WAITS: &str = "#!/bin/sh\n[ \"$CONNECTION_ID\" != ovs-if-br-ex ] || until [ -e /run/lab-go ]; do sleep 0.05; done\n";

#[tests::case]
fn old_network_comes_back_and_the_next_try_makes_br_ex() -> Result<(), Error> {
    let node = node().file("/etc/NetworkManager/dispatcher.d/pre-up.d/50-lab", WAITS, 0o755);
    node.run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        let first = start(&inside)?;
        inside.wait_sh("ovs-vsctl br-exists br-ex && ip link show br-ex", ATTEMPT)?;
        case.peer_mut().fault(Fault::IgnoreNeighbours, true)?;
        inside.write("/run/lab-go", "")?;
        // The roll back is proved by the gateway too.
        inside.wait_journal(&first.entries(), ATTEMPT, |entry| {
            entry.message().starts_with("probing the new network: probe")
        })?;
        case.peer_mut().fault(Fault::IgnoreNeighbours, false)?;
        bridge_outcome(&inside, Some(&first))?.exits(3).says("IPv4 gateway");
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(picture(&inside)?, before);
        assert!(!kubelet_ran(&inside)?);
        assert_eq!(inside.read("/var/lib/ovnk/iface_default_hint")?, None);
        inside.run(&["dayone", "status"])?.exits(3).says_wrapped("the next attempt is in 15 s");

        let second = mark(&inside)?;
        inside.sh("systemctl kill --signal=HUP dayone-bridge.service")?;
        bridge_outcome(&inside, Some(&second))?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        inside.run(&["dayone", "status"])?.exits(0);
        Ok(())
    })
}

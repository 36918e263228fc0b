//! A br-ex that Open vSwitch or NetworkManager refuses.

use tests::{
    dayone::{ADDRESS, MAC, SOON, advised, kubelet_ran, picture, stop_open_vswitch},
    lab::{Error, Peer},
};

use super::{bridge_attempt, node, old_network};

const VOLATILE: &str = "/run/NetworkManager/system-connections";

#[tests::case]
fn open_vswitch_is_down_and_then_networkmanager_refuses_a_profile() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        stop_open_vswitch(&inside)?;
        bridge_attempt(&inside)?.exits(1).says("Open vSwitch's database");
        // A damaged database starts no more; the page has the command that replaces it.
        inside.sh("systemctl stop dayone-bridge.service; head --bytes=8 /etc/openvswitch/conf.db >/tmp/half; \
             cat /tmp/half >/etc/openvswitch/conf.db; ! systemctl start openvswitch-switch.service")?;
        let status = inside.run(&["dayone", "status"])?;
        inside.sh(&advised(&status.stdout, "mv /etc/openvswitch/conf.db "))?;
        assert_eq!(picture(&inside)?, before);

        // A profile is a file of this directory.
        inside.sh(&format!("mv {VOLATILE} /run/lab-profiles; touch {VOLATILE}"))?;
        bridge_attempt(&inside)?.exits(3).says("applying the profiles of br-ex");
        inside.sh(&format!(
            "systemctl stop dayone-bridge.service; rm {VOLATILE}; mv /run/lab-profiles {VOLATILE}"
        ))?;
        assert_eq!(picture(&inside)?, before);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(!kubelet_ran(&inside)?);

        bridge_attempt(&inside)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}

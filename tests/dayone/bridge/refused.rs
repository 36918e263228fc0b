//! A br-ex that Open vSwitch or NetworkManager refuses.

use tests::{
    dayone::{
        ADDRESS, MAC, SOON, advised, bridge_outcome, kubelet_ran, picture, stop_open_vswitch,
    },
    lab::{Error, Lab, Peer},
};

use super::{node, old_network, start};

const VOLATILE: &str = "/run/NetworkManager/system-connections";

#[tests::case]
fn open_vswitch_is_down_and_then_networkmanager_refuses_a_profile() -> Result<(), Error> {
    let lab = Lab::open()?;
    lab.run(node(), &Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        stop_open_vswitch(&inside)?;
        let down = start(&inside)?;
        let it = bridge_outcome(&inside, Some(&down))?;
        assert_eq!(it.exit, 1, "{}", it.text());
        assert!(it.text().contains("Open vSwitch's database"), "{}", it.text());
        // A damaged database starts no more; the page has the command that replaces it.
        inside.sh("systemctl stop dayone-bridge.service; head --bytes=8 /etc/openvswitch/conf.db >/tmp/half; \
             cat /tmp/half >/etc/openvswitch/conf.db; ! systemctl start openvswitch-switch.service")?;
        let status = inside.run(&["dayone", "status"])?;
        inside.sh(&advised(&status.stdout, "mv /etc/openvswitch/conf.db "))?;
        assert_eq!(picture(&inside)?, before);

        // A profile is a file of this directory.
        inside.sh(&format!("mv {VOLATILE} /run/lab-profiles; touch {VOLATILE}"))?;
        let refused = start(&inside)?;
        let it = bridge_outcome(&inside, Some(&refused))?;
        assert_eq!(it.exit, 3, "{}", it.text());
        assert!(it.text().contains("applying the profiles of br-ex"), "{}", it.text());
        inside.sh(&format!(
            "systemctl stop dayone-bridge.service; rm {VOLATILE}; mv /run/lab-profiles {VOLATILE}"
        ))?;
        assert_eq!(picture(&inside)?, before);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(!kubelet_ran(&inside)?);

        let last = start(&inside)?;
        let it = bridge_outcome(&inside, Some(&last))?;
        assert_eq!(it.exit, 0, "{}", it.text());
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        Ok(())
    })
}

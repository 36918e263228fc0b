//! The bridge of configure-ovs.sh becomes the agent's without a reboot.

use tests::{
    dayone::{
        ADDRESS, APPLIED, BRIDGE_PROFILES, MAC, PATCH, SOON, configure_ovs_in_run, exports, ovn,
        try_document, volatile_profiles,
    },
    lab::{Error, Peer},
};

use super::{bridge_attempt, node, old_network};

#[tests::case]
fn of_configure_ovs_with_its_patch_port() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, _) = old_network(case)?;
        configure_ovs_in_run(&inside)?;
        ovn(&inside)?;
        let numbers =
            format!("ovs-vsctl get interface eno1 ofport -- get interface {PATCH} ofport");
        let document = exports(&inside)?;
        assert!(
            document.contains(PATCH) && document.contains("allow-extra-patch-ports: true"),
            "{document}"
        );
        let before = inside.wait_sh(&format!("{numbers} | grep -v '[^0-9]'"), SOON)?;
        bridge_attempt(&inside)?.exits(0);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
        assert_eq!(inside.sh("ls /etc/NetworkManager/system-connections")?, "eno1.nmconnection");
        // Flows name these numbers.
        inside.wait_sh(&format!("[ \"$({numbers})\" = '{before}' ]"), SOON)?;
        let uuid = inside.sh("nmcli -g UUID,TYPE connection show | sed -n 's/:ovs-bridge$//p'")?;
        let known = inside.sh("ovs-vsctl get bridge br-ex external_ids:NM.connection.uuid")?;
        assert_eq!(known.trim_matches('"'), uuid);
        inside.run(&["dayone", "status"])?.exits(0);

        // The exported document adopts the script's bridge: no port, no number and no address is another.
        try_document(&inside, &document)?.exits(0);
        assert_eq!(inside.sh(&numbers)?, before);
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
        let status = inside.run(&["dayone", "status"])?.success()?;
        assert!(status.starts_with("IN FORCE: "), "{status}");
        assert_eq!(inside.read(APPLIED)?.as_ref(), Some(&document));
        Ok(())
    })
}

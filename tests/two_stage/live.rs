//! A live root with the agent installer's files: nmgen-live.service in the place of pre-network-manager-config.service.

use tests::{
    lab::{Machines, Nic, Peer, VirtualMachine},
    two_stage::{ADDRESS, Ignition, MACS, NAME, SOON, has_one_profile},
};

use crate::Result;

/// As assisted-service writes it: captures by MAC address.
const POLICY: &str = "\
capture:
  iface0: interfaces.mac-address == \"52:54:00:00:00:71\"
desiredState:
  interfaces:
  - name: \"{{ capture.iface0.interfaces.0.name }}\"
    type: ethernet
    state: up
    ipv4:
      enabled: true
      dhcp: false
      address:
      - ip: 192.0.2.70
        prefix-length: 24
    ipv6:
      enabled: false
";

#[tests::case]
fn assisteds_tree_is_the_network_before_networkmanager_starts() -> Result<()> {
    let machines = Machines::open()?;
    let config = Ignition::default()
        .file("/etc/assisted/network/host0/mac_interface.ini", "52:54:00:00:00:01=eno1\n")
        .file("/etc/assisted/network/host0/ymlFile0.yml", "interfaces: [")
        .file("/etc/assisted/network/host1/mac_interface.ini", &format!("{}=eno1\n", MACS[0]))
        .file("/etc/assisted/network/host1/ymlFile1.yml", POLICY)
        .file(&format!("/etc/assisted/hostnames/{}", MACS[0]), NAME)
        .enable("nmgen-live.service")
        .text();
    let machine =
        VirtualMachine::default().live().nic(Nic::new("nic1", MACS[0])).embedded_ignition(&config);
    machines.run(&machine, &Peer::new().dhcp(), |case| {
        case.boot()?;
        has_one_profile(case, "enp0s16", "enp0s16", ADDRESS)?;
        assert!(case.peer().leases()?.is_empty());
        let inside = case.inside()?;
        assert_eq!(inside.sh("hostname; cat /etc/hostname")?, format!("{NAME}\n{NAME}"));
        let order = inside.sh(
            "systemctl show --property=After NetworkManager.service | grep -o nmgen-live.service; \
             systemctl show --property=Id --value pre-network-manager-config.service",
        )?;
        assert_eq!(order, "nmgen-live.service\nnmgen-live.service");
        let root =
            inside.sh("findmnt --noheadings --output FSTYPE,OPTIONS /; findmnt -no FSTYPE /etc")?;
        assert!(root.contains(" ro,") && root.ends_with("tmpfs"), "{root}");
        // A config image loads another configuration and runs the unit again.
        let changed = POLICY.replace("192.0.2.70", "192.0.2.72");
        inside.write("/etc/assisted/network/host1/ymlFile1.yml", &changed)?;
        inside.sh("systemctl restart pre-network-manager-config.service NetworkManager.service")?;
        inside.wait_sh("nmcli connection up enp0s16", SOON)?;
        has_one_profile(case, "enp0s16", "enp0s16", [192, 0, 2, 72].into())?;
        Ok(())
    })
}

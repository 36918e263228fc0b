//! A bond and a VLAN of cards identified by MAC address in the initramfs; br-ex on the bond in the running system, and its wire.

mod wire;

use std::net::Ipv4Addr;

use tests::{
    dayone::{Links, exports, make_others, others_are_there, replays_topology},
    derived::balance_slb,
    lab::{Inside, Machines, Nic, Peer, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, ON_VLAN, PATIENCE, SERVER, SOON, archive, bonded, br_ex,
        fleet, kubelet_last, messages, moment, peer, tell, tell_timeline, under_own_names,
    },
};

use crate::Result;

/// Records the bond's count of carrier losses at the agent's start.
const BEFORE: &str = "[Service]\nExecStartPre=/bin/sh -c 'cat /sys/class/net/bond0/carrier_down_count >/run/lab-carrier'\n";

fn document() -> String {
    br_ex("bond0", "bond", ADDRESS, [192, 0, 2, 1].into())
}

fn configuration(document: &str, settings: &str) -> String {
    // Two documents of other machines, and the default document: none applies here.
    let other = |name: &str| document.replace("name: br-ex", &format!("name: br-{name}"));
    Ignition::new(NAME)
        .drop_in(BEFORE)
        .settings(settings)
        .document(NAME, document)
        .document("worker-6", &other("w6"))
        .document("worker-8", &other("w8"))
        .document("cluster", &other("all"))
        .text()
}

/// Checks the result of every boot.
fn in_force(case: &VmCase<'_>) -> Result<Inside> {
    let inside = case.inside()?;
    kubelet_last(&inside)?;
    for address in [ADDRESS, ON_VLAN] {
        assert!(case.peer().pings(address, SOON)?, "{address}");
    }
    assert!(inside.sh("ip -oneline -4 address show br-ex")?.contains(&ADDRESS.to_string()));
    assert_eq!(inside.sh("ip -oneline -4 address show bond0")?, "");
    let bridge =
        inside.sh("ovs-vsctl get bridge br-ex datapath_type; ovs-vsctl list-ports br-ex")?;
    assert_eq!(bridge, "\"\"\nbond0", "the kernel's datapath");
    inside.run(&["dayone", "status"])?.exits(0).says(&format!("{NAME}.yml"));
    Ok(inside)
}

/// Checks that the running system uses the ramdisk's profiles, by uuid and file.
fn profiles_survived(inside: &Inside) -> Result<()> {
    let active = inside.sh("nmcli -g NAME,UUID,DEVICE connection show --active")?;
    let kept = inside.sh("cd /etc/NetworkManager/system-connections; grep -H ^uuid= *")?;
    for (name, device) in [("bond0", "bond0"), ("bond0.100", "bond0.100"), ("enp", "enp")] {
        let line = active.lines().find(|line| {
            line.starts_with(name)
                && line.rsplit(':').next().is_some_and(|field| field.starts_with(device))
        });
        let uuid = line.and_then(|line| line.split(':').nth(1)).unwrap_or("none");
        // nmgen's uuids are of version 5, derived from names; NetworkManager's and nmstate's are of version 4.
        assert_eq!(uuid.get(14..15), Some("5"), "{name} in {active}");
        assert!(kept.contains(&format!("uuid={uuid}")), "{name} in {kept}");
    }
    Ok(())
}

/// The bond loses its carrier when it is made, before it has ports, and with each activation as a port of the bridge:
/// NetworkManager's, and nmstate's if it finds the first one in progress, whose ports may have a carrier by then: one loss more.
/// Nothing else, such as the pivot, interrupts the carrier.
fn only_activations_flap(inside: &Inside, mode: &str) -> Result<()> {
    let counts = inside.sh("cat /run/lab-carrier /sys/class/net/bond0/carrier_down_count")?;
    let counts =
        counts.split_whitespace().map(str::parse).collect::<std::result::Result<Vec<u32>, _>>()?;
    let activations = inside
        .journal(&["_SYSTEMD_UNIT=NetworkManager.service"])?
        .iter()
        .skip_while(|entry| !entry.message().contains("op=\"connection-add\""))
        .filter(|entry| entry.message().contains("device (bond0): Activation: starting connection"))
        .count();
    tell(&format!(
        "{mode}: the bond's carrier was lost {counts:?} times before and after {activations} activations"
    ));
    let [before, after] = counts[..] else { return Err(format!("{counts:?}").into()) };
    assert_eq!(before, 1, "before the agent");
    // NetworkManager 1.42 takes one more.
    let is_old = inside.sh("NetworkManager --version")?.starts_with("1.42.");
    assert!(activations <= 2 + usize::from(is_old), "{activations}");
    let interrupted = activations.saturating_sub(1);
    assert!(
        usize::try_from(after - before)? <= activations + interrupted,
        "{counts:?} {activations}"
    );
    Ok(())
}

/// The machine's address on the storage network, and the peer's.
const ON_STORAGE: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 70);
const STORAGE_SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// A bond with jumbo frames for storage, in a table of its own (VRF).
const STORAGE: &str = "\
interfaces:
- {name: enp0s18, type: ethernet, state: up}
- {name: enp0s19, type: ethernet, state: up}
- name: bond1
  type: bond
  state: up
  mtu: 9000
  link-aggregation: {mode: active-backup, port: [enp0s18, enp0s19]}
  ipv4: {enabled: true, dhcp: false, address: [{ip: 198.18.0.70, prefix-length: 24}]}
- {name: storage, type: vrf, state: up, vrf: {port: [bond1], route-table-id: 100}}
";

/// The early bond becomes one of Open vSwitch: nothing of it is left, in the kernel nor in the files of the early network.
fn becomes_one_of_open_vswitch(case: &VmCase<'_>, inside: &Inside) -> Result<()> {
    let early = under_own_names("active-backup");
    let (bond, rest) = early.split_once("  - name: bond0.100\n").expect("the VLAN");
    let (_, rest) = rest.split_once("dns-resolver:\n").expect("what follows it");
    let document = balance_slb(&format!("{bond}dns-resolver:\n{rest}"))?;
    let document = document.replacen("interfaces:\n", STORAGE, 1);
    inside.write(&format!("/etc/nmstate/openshift/{NAME}.yml"), &document)?;
    inside.run_within(&["dayone", "apply"], VmCase::BOOT)?.success()?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MACS[0]));
    let left = "ls -d /sys/class/net/bond0 || :; nmcli -g NAME connection show | grep -x bond0 || :; \
                cd /etc/NetworkManager/system-connections; grep -lx interface-name=bond0 * || :";
    assert_eq!(inside.sh(left)?, "");
    let bond = inside.sh("ovs-appctl bond/show ovs-bond")?;
    for words in ["bond_mode: balance-slb", "member enp0s16: enabled", "member enp0s17: enabled"] {
        assert!(bond.contains(words), "{words} in {bond}");
    }
    // Storage beside it.
    assert!(case.peer().pings(ON_STORAGE, SOON)?);
    assert_eq!(inside.sh("cat /sys/class/net/bond1/mtu /sys/class/net/enp0s19/mtu")?, "9000\n9000");
    let table = inside.sh("ip route show table 100 dev bond1")?;
    assert!(table.contains("198.18.0.0/24"), "{table}");
    let status = inside.run(&["dayone", "status"])?.success()?;
    assert!(status.starts_with("IN FORCE: "), "{status}");
    exports(inside)?;
    Ok(())
}

/// A user-defined network of OVN-Kubernetes with its VRF, an egress address and routes of FRR are no difference.
fn beside_others(inside: &Inside) -> Result<String> {
    let others = make_others(inside, Links::Vrf)?;
    let status = inside.run(&["dayone", "status"])?.success()?;
    assert!(status.starts_with("IN FORCE: "), "{status}");
    let diff = inside.sh("dayone diff")?;
    assert!(diff.ends_with("# no difference"), "{diff}");
    Ok(others)
}

fn two_stages(
    mode: &str,
    machine: VirtualMachine,
    peer: &Peer,
    configuration: &str,
    check: impl FnOnce(&mut VmCase<'_>) -> Result<()>,
) -> Result<()> {
    let machines = Machines::open()?;
    let machine =
        machine.archive(archive(&fleet(mode))?).ignition(&SERVER.to_string(), configuration);
    machines.run(&machine, peer, |case| {
        case.boot()?;
        let inside = in_force(case)?;
        let chosen = inside.sh("journalctl --boot --output=cat --identifier=nmgen")?;
        assert!(chosen.contains(&format!("this machine is {NAME}")), "{chosen}");
        let requests = case.requests()?;
        assert!(requests.contains(&ON_VLAN.to_string()), "not over the VLAN: {requests}");
        profiles_survived(&inside)?;
        only_activations_flap(&inside, mode)?;
        tell_timeline(&messages(&inside)?);
        check(case)
    })
}

#[tests::case]
fn active_backup_and_a_second_boot() -> Result<()> {
    let configuration = configuration(&document(), PATIENCE);
    let storage = |name: &str, mac: &str| Nic::new(name, mac).segment("storage");
    let machine = bonded("active-backup")
        .nic(storage("nic3", "52:54:00:00:00:73"))
        .nic(storage("nic4", "52:54:00:00:00:74"));
    let peer = peer().address("storage", STORAGE_SERVER.into(), 24);
    two_stages("active-backup", machine, &peer, &configuration, |case| {
        let requests = case.requests()?;
        beside_others(&case.inside()?)?;
        case.reboot()?;
        let inside = in_force(case)?;
        profiles_survived(&inside)?;
        // Nothing was fetched or applied.
        assert_eq!(case.requests()?, requests);
        assert!(moment(&messages(&inside)?, "Ignition Debian").is_err());
        let applied = inside.sh("journalctl --boot --output=cat --identifier=dayone")?;
        assert!(applied.contains("in force") && !applied.contains("checkpoint"), "{applied}");
        let others = beside_others(&inside)?;
        becomes_one_of_open_vswitch(case, &inside)?;
        Ok(others_are_there(&inside, &others, "after a changed document")?)
    })
}

#[tests::case]
fn lacp_with_a_real_partner() -> Result<()> {
    let configuration = configuration(&wire::document(&document()), &wire::settings());
    two_stages("802.3ad", bonded("802.3ad"), &wire::peer(), &configuration, |case| {
        let inside = case.inside()?;
        let bond = inside.sh("cat /proc/net/bonding/bond0")?;
        assert!(bond.contains("Number of ports: 2"), "{bond}");
        assert!(!bond.contains("Partner Mac Address: 00:00:00:00:00:00"), "{bond}");
        let partner = case.lacp("aggregate")?;
        assert_eq!(partner.matches("current attached").count(), 2, "{partner}");
        exports(&inside)?;
        replays_topology(&inside)?;
        wire::is_proved(case, &inside)
    })
}

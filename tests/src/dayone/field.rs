//! Expectations of a node of the field, with the agent or without.

use std::time::Duration;

use super::{ADDRESS, MAC, SOON, removes_remains};
use crate::lab::{Case, Error, Inside, Result};

/// Bound on kubelet's start: nmstate and NetworkManager have checkpoints and waits of their own.
const KUBELET: Duration = Duration::from_secs(60);
/// Units of every boot, with their final states.
const RUN: [(&str, &str); 7] = [
    ("nmstate.service", "active"),
    ("nodeip-configuration.service", "inactive"),
    ("wait-for-br-ex-up.service", "inactive"),
    ("node-valid-hostname.service", "active"),
    ("kdump.service", "active"),
    ("ipsec.service", "active"),
    ("crio.service", "active"),
];

/// Checks that the node's health names its fault by failed units, and takes these out of the account of failed ones.
///
/// # Errors
/// If a unit does not fail.
pub fn unhealthy(inside: &Inside, reason: &str) -> Result<()> {
    for unit in ["dayone-health.service", &format!("dayone-health@{reason}.service")] {
        inside.wait_unit(unit, "failed", KUBELET)?;
    }
    inside.sh("systemctl reset-failed 'dayone-health*'")?;
    Ok(())
}

/// Waits for kubelet, and for the rest of the boot.
///
/// # Errors
/// [`Error::Output`] if a unit failed, or if one has not run.
pub fn finished(inside: &Inside) -> Result<()> {
    inside.wait_unit("kubelet.service", "active", KUBELET)?;
    inside.wait_sh("! systemctl list-jobs --no-legend | grep .", KUBELET)?;
    let wrong = |problem| Err(Error::Output { program: "systemctl", problem });
    let failed = inside.sh("systemctl list-units --failed --plain --no-legend")?;
    // A race of NetworkManager's own, with or without the agent: beside a bridge that OVSDB kept, the OVS interface may stay
    // in "getting IP configuration" although the kernel has its address and route. Nothing requires the unit, only its time
    // passes; `br_ex_works` asks the network itself.
    let failed: Vec<&str> = failed
        .lines()
        .filter(|line| !line.starts_with("NetworkManager-wait-online.service"))
        .collect();
    if !failed.is_empty() {
        return wrong(failed.join("; "));
    }
    // The agent applies what nmstate.service would, in its own transaction.
    let is_held_back = inside.run(&["test", "-e", "/run/dayone/chosen"])?.status.success();
    let newer: &[(&str, &str)] = match waits_for_each_family(inside)? {
        true => {
            &[("wait-for-node-ip.service", "inactive"), ("openvswitch-ipsec.service", "active")]
        }
        false => &[("wait-for-primary-ip.service", "inactive")],
    };
    for (name, state) in RUN.iter().chain(newer).copied() {
        let unit = inside.unit(name)?;
        if name == "nmstate.service" && is_held_back {
            continue;
        }
        if unit.active_state != state || unit.result != "success" || unit.exec_start.is_none() {
            return wrong(format!("{name} has not run as it should: {unit:?}"));
        }
    }
    let corosync = inside.read("/run/lab-corosync")?;
    if corosync.is_some_and(|link| link.trim_end() != "br-ex") {
        return wrong("corosync started before br-ex had the node's address".into());
    }
    match inside.read("/run/lab-fenced")? {
        Some(event) => wrong(format!("fenced: {event}")),
        None => Ok(()),
    }
}

/// Whether the node's release is 5.0 or newer.
fn waits_for_each_family(inside: &Inside) -> Result<bool> {
    let unit = "/etc/systemd/system/wait-for-node-ip.service";
    Ok(inside.run(&["test", "-e", unit])?.status.success())
}

/// Checks that br-ex has the node's address, and the card's MAC address, and that the peer reaches it.
///
/// # Panics
/// If not.
pub fn br_ex_works(case: &Case<'_>) -> Result<()> {
    let inside = case.inside()?;
    assert!(case.peer().pings(ADDRESS, SOON)?, "no answer from {ADDRESS}");
    assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
    let address = inside.sh("ip -4 -oneline address show dev br-ex scope global")?;
    assert!(address.contains(&format!(" {ADDRESS}/24 ")), "{address}");
    assert_eq!(inside.sh("ip -4 -oneline address show dev eno1 scope global")?, "");
    let route = inside.sh("ip route show default")?;
    assert!(route.starts_with("default via 192.0.2.1 dev br-ex "), "{route}");
    let ports = inside.sh("ovs-vsctl list-ports br-ex")?;
    assert!(ports.lines().any(|port| port == "eno1"), "{ports}");
    Ok(())
}

/// Waits for OVN's patch port on br-ex and returns its id in OVSDB: another one is another port.
pub fn patch_port(inside: &Inside) -> Result<String> {
    inside.wait_sh("ovs-vsctl get interface patch-br-ex_worker-0-to-br-int _uuid", SOON)
}

/// Whether OVN's patch port on br-ex is the one of `before`, which OVSDB kept over a boot. With a NetworkManager of
/// [`removes_remains`] it is always another, which OVN made again.
pub fn keeps_patch_port(inside: &Inside, before: &str) -> Result<bool> {
    Ok(patch_port(inside)? == before || removes_remains(inside)?)
}

/// Stops Open vSwitch. From 4.0 on its database has a socket, which would start it again.
pub fn stop_open_vswitch(inside: &Inside) -> Result<()> {
    let units = "openvswitch-switch.service ovs-vswitchd.service 'ovsdb-server.*'";
    inside.sh(&format!("systemctl stop {units}"))?;
    Ok(())
}

/// Kills ovs-vswitchd, and returns when the next one has read the database.
pub fn crash_open_vswitch(inside: &Inside) -> Result<()> {
    let crashed = inside.sh("pidof ovs-vswitchd")?;
    inside.kill("ovs-vswitchd.service")?;
    let is_another = format!("[ $(pidof ovs-vswitchd || echo {crashed}) != {crashed} ]");
    inside.wait_sh(&is_another, 2 * SOON)?;
    // Without --no-wait it returns when ovs-vswitchd has read the change.
    inside.sh("ovs-vsctl set open_vswitch . external_ids:lab=read")?;
    Ok(())
}

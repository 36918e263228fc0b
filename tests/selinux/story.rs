//! One node's life under an enforced policy: a first boot whose power fails once nmgen has handed its profiles over, both stages
//! with real Ignition, the automatic bridge, a document, a trial, a roll back, a second boot. After each: the network works, every
//! label is the policy's, and nothing of ours was denied.
//!
//! A policy hides denials that it holds for harmless (dontaudit), so that function and labels are the evidence.

use std::net::Ipv4Addr;

use tests::{
    lab::{Inside, Machines, Nic, VirtualMachine, VmCase},
    two_stage::{
        ADDRESS, Ignition, MACS, NAME, PATIENCE, SOON, br_ex, default_route, messages, one_card,
        peer, static_address, tell_timeline,
    },
};

use crate::Result;

/// Ends the first boot as a power cut does, with what is on the disk, once the running system has nmgen's profiles.
const CUT: (&str, &str) = (
    "/etc/systemd/system/nmgen-persist.service.d/50-lab.conf",
    "[Service]\nExecStartPost=+/bin/sh -c '[ ! -e /sysroot/etc/lab-cut ] && : >/sysroot/etc/lab-cut && systemctl poweroff --force --force || :'\n",
);
/// The directories and files that nmgen and the agent write.
const PLACES: &str = "/etc/NetworkManager /etc/nmgen /etc/nmstate /etc/dayone /etc/hostname /etc/systemd/network \
                      /var/lib/dayone /run/dayone /run/NetworkManager";
/// Words of a denial that is about them or about NetworkManager, which acts on what they have written.
const OURS: [&str; 7] =
    ["NetworkManager", "nm-dispatcher", "dayone", "nmgen", "nmstate", "hostname", "unlabeled_t"];
/// The trial's document.
const ON_TRIAL: &str = "/root/trial.yml";
const ON_TRIAL_ADDRESS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 77);

/// Removes the file of the host name once it has the trial's: the roll back makes it anew.
const REMOVED: &str =
    "until grep --quiet on-trial /etc/hostname; do sleep 0.1; done; rm /etc/hostname";

/// Checks the labels, and that nothing of ours was denied. Debian's rules for Open vSwitch itself are not enforced (lab.cil).
fn nothing_is_denied(inside: &Inside, after: &str) -> Result<()> {
    assert_eq!(inside.sh("cat /sys/fs/selinux/enforce")?, "1");
    let labels = inside.sh(&format!("restorecon -nvR {PLACES} 2>&1 || :"))?;
    let wrong: Vec<&str> = labels.lines().filter(|line| line.contains("relabel")).collect();
    assert!(wrong.is_empty(), "{after}: {wrong:#?}");
    let denied =
        "journalctl --boot --output=cat --no-pager | grep 'avc:  denied.*permissive=0' || :";
    let denied = inside.sh(denied)?;
    let is_ours = |line: &&str| OURS.iter().any(|word| line.contains(word));
    let ours: Vec<&str> = denied.lines().filter(is_ours).collect();
    assert!(ours.is_empty(), "{after}: {ours:#?}");
    Ok(())
}

/// Checks labels of files from the initramfs and from Ignition.
fn labels(inside: &Inside) -> Result<()> {
    for (path, label) in [
        ("/etc/NetworkManager/system-connections/enp0s16.nmconnection", "NetworkManager_etc_rw_t"),
        ("/etc/nmgen/persisted", "etc_t"),
        ("/etc/dayone/dayone.toml", "etc_t"),
        ("/etc/hostname", "net_conf_t"),
    ] {
        let seen = inside.sh(&format!("stat --format=%C {path}"))?;
        assert_eq!(seen, format!("system_u:object_r:{label}:s0"), "{path}");
    }
    Ok(())
}

/// br-ex is there with this address, by the kernel's datapath.
fn bridge_works(case: &VmCase<'_>, after: &str) -> Result<Inside> {
    let inside = case.inside()?;
    let bridge =
        inside.sh("ovs-vsctl get bridge br-ex datapath_type; ovs-vsctl list-ports br-ex")?;
    assert_eq!(bridge, "\"\"\nenp0s16", "{after}");
    assert!(case.peer().pings(ADDRESS, SOON)?, "{after}");
    nothing_is_denied(&inside, after)?;
    Ok(inside)
}

#[tests::case]
fn a_node_lives_under_an_enforced_policy() -> Result<()> {
    let machines = Machines::enforcing()?;
    let gateway = [192, 0, 2, 1].into();
    let early =
        one_card("eth1", MACS[0], &static_address(ADDRESS), &default_route(gateway, "eth1"));
    let config =
        Ignition::new(NAME).automatic_bridge().settings(&format!("{PATIENCE}probe = 5\n")).text();
    let machine = VirtualMachine::new()
        .nic(Nic::new("nic1", MACS[0]))
        .early(&format!("/etc/nmgen/{NAME}.yml"), &early)
        .early(CUT.0, CUT.1)
        .ignition("192.0.2.1", &config);
    machines.run(&machine, &peer(), |case| {
        case.power_on()?;
        case.wait_off()?;
        let inside = case.boot()?;
        tell_timeline(&messages(&inside)?);
        labels(&inside)?;
        let inside = bridge_works(case, "the first boot")?;

        let document = br_ex("enp0s16", "ethernet", ADDRESS, gateway);
        let file = format!("/etc/nmstate/openshift/{NAME}.yml");
        inside.write(&file, &document)?;
        let apply = |code: i32, arguments: &[&str]| -> Result<()> {
            let done =
                inside.run_within(&[&["dayone", "apply"], arguments].concat(), VmCase::BOOT)?;
            assert_eq!(done.status.code(), Some(code), "{done}");
            Ok(())
        };
        apply(0, &[])?;
        bridge_works(case, "the document")?;

        let other = document.replace(&ADDRESS.to_string(), &ON_TRIAL_ADDRESS.to_string());
        inside.write(
            ON_TRIAL,
            &format!("{other}hostname:\n  config: on-trial\n  running: on-trial\n"),
        )?;
        inside.sh(&format!("systemd-run --no-block sh -c '{REMOVED}'"))?;
        apply(3, &["--trial", "10", ON_TRIAL])?;
        assert_eq!(inside.read("/etc/hostname")?.as_deref().map(str::trim), Some(NAME));
        bridge_works(case, "the trial")?;

        inside.write(
            &file,
            &document.replace("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop"),
        )?;
        apply(3, &[])?;
        bridge_works(case, "the roll back")?;
        inside.write(&file, &document)?;
        case.reboot()?;
        let inside = bridge_works(case, "the second boot")?;
        let status = inside.run(&["dayone", "status"])?.success()?;
        assert!(status.starts_with("IN FORCE: "), "{status}");
        Ok(())
    })
}

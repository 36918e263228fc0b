//! A node of the field with a document and the agent.

use tests::{
    dayone::{
        APISERVER, APPLIED, DAY_ONE, Document, HOST_FILE, SOON, agent, br_ex_works, finished,
        keeps_patch_port, outcome, patch_port,
    },
    lab::{Case, Error, Field, Inside, Lab, Peer, Release},
};

use super::{each_release, node};

/// Checks that the agent's document is in force, and that every side job of the operator's units is done.
fn in_force(case: &Case<'_>, text: &str) -> Result<(), Error> {
    side_jobs(case, text, "br-ex")
}

/// With the link that had the node's address when nodeip-configuration ran.
fn side_jobs(case: &Case<'_>, text: &str, forwards: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    finished(&inside)?;
    let outcome = outcome(&inside, None)?;
    assert_eq!(outcome.exit, 0, "{}", outcome.text());
    br_ex_works(case)?;
    assert_eq!(inside.read(APPLIED)?.as_deref(), Some(text));
    let (dayone, kubelet) = (inside.unit("dayone.service")?, inside.unit("kubelet.service")?);
    assert_eq!(dayone.active_state, "active");
    assert!(kubelet.exec_start > dayone.active_enter, "{kubelet:?} {dayone:?}");
    let seen = inside.read("/run/lab-kubelet/addresses")?.unwrap_or_default();
    assert!(seen.contains("\"local\":\"192.0.2.10\""), "{seen}");
    // keepalived needs forwarding on the link with the node's address.
    assert_eq!(inside.read("/run/lab-forwarding")?.as_deref().map(str::trim_end), Some(forwards));
    // Blank or unset: OVN reads no database of another boot.
    let remote = inside.read("/run/lab-ovn-remote")?.unwrap_or_else(|| "not written".into());
    assert_eq!(remote.trim().trim_matches('"').trim(), "", "ovn-remote is stale");
    assert_eq!(inside.sh("ls -d /etc/cno/mtu-migration 2>/dev/null || :")?, "");
    let status = inside.run(&["dayone", "status"])?;
    assert_eq!(status.status.code(), Some(0), "{status}");
    Ok(())
}

each_release!(document_first_boot_and_three_reboots: release_4_16, release_4_20, release_4_22, single_node_5_0);
fn document_first_boot_and_three_reboots(field: Field) -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = Document::new().text();
    let node = agent(node(field))
        .keyfile("eno1", DAY_ONE)
        .file(HOST_FILE, &text, 0o644)
        .file(APISERVER.0, APISERVER.1, 0o644)
        .file("/etc/cno/mtu-migration/mtu/eno1", "ORIGINAL_MTU=1500\n", 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        in_force(case, &text)?;
        let port = patch_port(&case.inside()?)?;
        for (power_cut, is_last) in [(false, false), (true, false), (false, true)] {
            let migrates = is_last && field.release == Release::V4_22;
            if migrates {
                begins_a_migration(&case.inside()?)?;
            }
            if power_cut {
                case.cut_power()?;
                case.boot()?;
            } else {
                case.reboot()?;
            }
            match migrates {
                true => keeps_the_mtu_of_its_document(case)?,
                false => in_force(case, &text)?,
            }
            // OVN's port is the one kept in OVSDB.
            assert!(keeps_patch_port(&case.inside()?, &port)?);
        }
        Ok(())
    })
}

/// The cluster changes its MTU: the operator enables mtu-migration.service and reboots each node.
fn begins_a_migration(inside: &Inside) -> Result<(), Error> {
    inside.write("/etc/cno/mtu-migration/config", "TARGET_MTU=1400\n")?;
    inside.sh(
        "mkdir --parents /etc/systemd/system/kubelet-dependencies.target.wants; \
         ln --symbolic ../mtu-migration.service /etc/systemd/system/kubelet-dependencies.target.wants/",
    )?;
    Ok(())
}

/// The operator's script knows configure-ovs's profiles alone, and fails without them: the MTU is the document's, and kubelet,
/// which only wants the unit, starts.
fn keeps_the_mtu_of_its_document(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    let outcome = outcome(&inside, None)?;
    assert_eq!(outcome.exit, 0, "{}", outcome.text());
    br_ex_works(case)?;
    let unit = inside.unit("mtu-migration.service")?;
    assert!(unit.exec_start.is_some() && unit.active_state == "failed", "{unit:?}");
    for link in ["br-ex", "eno1"] {
        assert_eq!(inside.sh(&format!("cat /sys/class/net/{link}/mtu"))?, "1500", "{link}");
    }
    // Its remains stay while it is enabled.
    inside.sh("test -e /etc/cno/mtu-migration/config")?;
    let status = inside.run(&["dayone", "status"])?;
    assert_eq!(status.status.code(), Some(0), "{status}");
    Ok(())
}

/// nodeip-configuration names the link of the node's address, as the operator's opt-in to NMState wants it.
const NAMING: &str = "\
[Service]
ExecStartPost=/bin/sh -c 'link=$(ip -4 -oneline route show default | sed -n \"s/.* dev \\([^ ]*\\).*/\\1/p\" | head -n 1); \
ip link property add dev $link altname primary'
";

/// A policy for every node of a role: its card is the one that nodeip-configuration names.
fn policy() -> String {
    let document = Document::new().nic("\"{{ capture.uplink.interfaces.0.name }}\"").text();
    let desired: String = document.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "capture:\n  uplink: interfaces.alt-names.name == \"primary\"\ndesiredState:\n{desired}"
    )
}

/// nodeip-configuration is ordered after the agent, whose policy waits for the name that it gives: it runs first, as in the
/// operator's own order. At the second boot the document is in force, and the order is as always.
#[tests::case]
fn policy_captures_the_name_that_a_later_unit_gives() -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = policy();
    let drop_in = "/etc/systemd/system/nodeip-configuration.service.d/20-primary.conf";
    let node = agent(node(Release::V5_1))
        .keyfile("eno1", DAY_ONE)
        .file(drop_in, NAMING, 0o644)
        .file(HOST_FILE, &text, 0o644)
        .file(APISERVER.0, APISERVER.1, 0o644);
    lab.run(node, &Peer::new(), |case| {
        for (is_first, forwards) in [(true, "eno1"), (false, "br-ex")] {
            case.boot()?;
            side_jobs(case, &text, forwards)?;
            let inside = case.inside()?;
            let chosen = "journalctl --boot --output=cat --identifier=nodeip-configuration | grep 'node.s address is'";
            assert_eq!(inside.sh(chosen)?.lines().count(), 1, "it ran once");
            let (dayone, naming) =
                (inside.unit("dayone.service")?, inside.unit("nodeip-configuration.service")?);
            let is_early = naming.exec_start < dayone.active_enter;
            assert_eq!(is_early, is_first, "{naming:?} {dayone:?}");
            if is_first {
                case.shut_down()?;
            }
        }
        Ok(())
    })
}

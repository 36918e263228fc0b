//! A node of the field with a document and the agent.

use tests::{
    dayone::{
        APISERVER, APPLIED, Document, ENTRIES, HASTE, SOON, agent, attempt, br_ex_works, finished,
        keeps_patch_port, outcome, patch_port, try_document, unwrapped, with_bridge,
    },
    lab::{Case, Error, Field, Inside, MTU_TARGET, Peer, Release, mtu_target},
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
    outcome(&inside, None)?.exits(0);
    br_ex_works(case)?;
    assert_eq!(inside.read(APPLIED)?.as_deref(), Some(text));
    let (dayone, kubelet) = (inside.unit("dayone.service")?, inside.unit("kubelet.service")?);
    assert_eq!(dayone.active_state, "active");
    assert!(kubelet.exec_start > dayone.active_enter, "{kubelet:?} {dayone:?}");
    assert_eq!(inside.unit("dayone-bridge.service")?.exec_start, None, "br-ex is the document's");
    let seen = inside.read("/run/lab-kubelet/addresses")?.unwrap_or_default();
    assert!(seen.contains("\"local\":\"192.0.2.10\""), "{seen}");
    // keepalived needs forwarding on the link with the node's address.
    assert_eq!(inside.read("/run/lab-forwarding")?.as_deref().map(str::trim_end), Some(forwards));
    // Blank or unset: OVN reads no database of another boot.
    let remote = inside.read("/run/lab-ovn-remote")?.unwrap_or_else(|| "not written".into());
    assert_eq!(remote.trim().trim_matches('"').trim(), "", "ovn-remote is stale");
    assert_eq!(inside.sh("ls -d /etc/cno/mtu-migration 2>/dev/null || :")?, "");
    inside.run(&["dayone", "status"])?.exits(0);
    Ok(())
}

each_release!(document_first_boot_and_three_reboots: release_4_16, release_4_20, release_4_22, single_node_5_0);
fn document_first_boot_and_three_reboots(field: Field) -> Result<(), Error> {
    let text = Document::new().text();
    let node = with_bridge(agent(node(field)))
        .day_one()
        .document(&text)
        .file(APISERVER.0, APISERVER.1, 0o644)
        .file("/etc/cno/mtu-migration/mtu/eno1", "ORIGINAL_MTU=1500\n", 0o644);
    node.run(&Peer::new(), |case| {
        case.boot()?;
        in_force(case, &text)?;
        let port = patch_port(&case.inside()?)?;
        let migrates = field.release == Release::V4_22;
        for (boot, power_cut) in [(2, false), (3, true), (4, false)] {
            if migrates && boot == 3 {
                begins_a_migration(&case.inside()?)?;
            }
            if power_cut {
                case.cut_power()?;
                case.boot()?;
            } else {
                case.reboot()?;
            }
            match (migrates, boot) {
                (true, 3) => {
                    is_told_that_its_mtu_is_too_small(case)?;
                    gets_the_mtu_once_the_network_has_it(case, &text)?;
                }
                (true, 4) => {
                    has_done_its_part(case)?;
                    ends_the_migration(case)?;
                    in_force(case, &with_mtu(&text))?;
                }
                _ => in_force(case, &text)?,
            }
            // OVN's port is the one kept in OVSDB.
            assert!(keeps_patch_port(&case.inside()?, &port)?);
        }
        Ok(())
    })
}

const MIGRATION: &str = "mtu-migration.service";
const MIGRATES: &str =
    "/etc/systemd/system/kubelet-dependencies.target.wants/mtu-migration.service";
const SETTINGS: &str = "/etc/dayone/dayone.toml";

/// The document with the cluster's new MTU on each level.
fn with_mtu(text: &str) -> String {
    let card = text.replace("  state: up\n  ipv4:", "  state: up\n  mtu: 9000\n  ipv4:");
    let both = card.replace("-from: eno1\n  ipv4:", "-from: eno1\n  mtu: 9000\n  ipv4:");
    assert_eq!(both.matches("mtu: 9000").count(), 2, "{both}");
    both
}

/// The cluster changes its MTU: the operator enables mtu-migration.service and reboots each node.
fn begins_a_migration(inside: &Inside) -> Result<(), Error> {
    inside.write(MTU_TARGET, &mtu_target(9000))?;
    inside.write("/etc/cno/mtu-migration/mtu/eno1", "ORIGINAL_MTU=1500\n")?;
    inside.sh(&format!(
        "mkdir --parents $(dirname {MIGRATES}); ln --symbolic ../{MIGRATION} {MIGRATES}; sync"
    ))?;
    Ok(())
}

/// The operator's unit, whose script knows configure-ovs's profiles alone, is skipped and says what counts; kubelet starts.
fn is_skipped(case: &Case<'_>, mtu: &str, told: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.wait_unit("kubelet.service", "active", SOON)?;
    br_ex_works(case)?;
    let unit = inside.unit(MIGRATION)?;
    let seen = (unit.exec_start, &*unit.active_state, &*unit.result);
    assert_eq!(seen, (None, "inactive", "exec-condition"), "{unit:?}");
    for link in ["br-ex", "eno1"] {
        assert_eq!(inside.sh(&format!("cat /sys/class/net/{link}/mtu"))?, mtu, "{link}");
    }
    inside.wait_journal(&ENTRIES, SOON, |entry| {
        entry.message().starts_with("mtu-migration.service is skipped: ")
            && entry.message().contains(told)
    })?;
    // Its remains stay while it is enabled.
    inside.sh("test -e /etc/cno/mtu-migration/mtu/eno1")?;
    // An agent that does not know the command leaves the unit alone.
    inside.sh("! dayone no-such-command && test -z \"$(dayone no-such-command)\"")?;
    Ok(())
}

fn is_told_that_its_mtu_is_too_small(case: &Case<'_>) -> Result<(), Error> {
    let small = "the cluster wants an MTU of 9000, br-ex of the document has 1500, eno1 of the document has 1500";
    is_skipped(case, "1500", small)?;
    let inside = case.inside()?;
    let status = inside.run(&["dayone", "status"])?.exits(3);
    let page = unwrapped(&status.stdout);
    assert!(page.contains("its MTU is too small for the cluster"), "{page}");
    assert!(page.contains("put `mtu: 9000` into the document"), "{page}");
    inside.wait_unit("dayone-health@mtu-migration.service", "failed", SOON)?;
    Ok(())
}

/// The changed document is rolled back while the switch does not carry its packets.
fn gets_the_mtu_once_the_network_has_it(case: &Case<'_>, text: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.write(SETTINGS, &format!("{HASTE}[probe]\nmtu = \"required\"\n"))?;
    try_document(&inside, &with_mtu(text))?.exits(3);
    assert_eq!(inside.sh("cat /sys/class/net/br-ex/mtu /sys/class/net/eno1/mtu")?, "1500\n1500");
    case.peer().mtu("eno1", "9000")?;
    attempt(&inside)?.exits(0);
    // A cable of the lab has its first MTU again at the next boot, as a switch that somebody forgot.
    inside.sh(&format!("rm {SETTINGS}"))?;
    Ok(())
}

fn has_done_its_part(case: &Case<'_>) -> Result<(), Error> {
    is_skipped(case, "9000", "br-ex of the document has 9000, eno1 of the document has 9000")?;
    let inside = case.inside()?;
    let status = inside.run(&["dayone", "status"])?.exits(0);
    let page = unwrapped(&status.stdout);
    assert!(
        page.contains("mtu: the cluster wants an MTU of 9000, br-ex of the document has 9000"),
        "{page}"
    );
    Ok(())
}

/// The cluster's second rollout takes the unit away; each run of the agent removes what is left.
fn ends_the_migration(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    inside.sh(&format!("rm {MIGRATES} {MTU_TARGET}; systemctl daemon-reload; dayone apply"))?;
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
    let text = policy();
    let drop_in = "/etc/systemd/system/nodeip-configuration.service.d/20-primary.conf";
    let node = agent(node(Release::V5_1))
        .day_one()
        .file(drop_in, NAMING, 0o644)
        .document(&text)
        .file(APISERVER.0, APISERVER.1, 0o644);
    node.run(&Peer::new(), |case| {
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

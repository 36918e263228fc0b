//! A node of the field with a document and the agent.

use tests::{
    dayone::{
        APISERVER, APPLIED, DAY_ONE, Document, HOST_FILE, agent, br_ex_works, finished,
        keeps_patch_port, outcome, patch_port,
    },
    lab::{Case, Error, Lab, Peer, Release},
};

use super::{each_release, node};

/// Checks that the agent's document is in force, and that every side job of the operator's units is done.
fn in_force(case: &Case<'_>, text: &str) -> Result<(), Error> {
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
    assert_eq!(inside.read("/run/lab-forwarding")?.as_deref(), Some("br-ex\n"));
    // Blank or unset: OVN reads no database of another boot.
    let remote = inside.read("/run/lab-ovn-remote")?.unwrap_or_else(|| "not written".into());
    assert_eq!(remote.trim().trim_matches('"').trim(), "", "ovn-remote is stale");
    assert_eq!(inside.sh("ls -d /etc/cno/mtu-migration 2>/dev/null || :")?, "");
    let status = inside.run(&["dayone", "status"])?;
    assert_eq!(status.status.code(), Some(0), "{status}");
    Ok(())
}

each_release!(document_first_boot_and_three_reboots);
fn document_first_boot_and_three_reboots(release: Release) -> Result<(), Error> {
    let lab = Lab::open()?;
    let text = Document::new().text();
    let node = agent(node(release))
        .keyfile("eno1", DAY_ONE)
        .file(HOST_FILE, &text, 0o644)
        .file(APISERVER.0, APISERVER.1, 0o644)
        .file("/etc/cno/mtu-migration/mtu/eno1", "ORIGINAL_MTU=1500\n", 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        in_force(case, &text)?;
        let port = patch_port(&case.inside()?)?;
        for power_cut in [false, true, false] {
            if power_cut {
                case.cut_power()?;
                case.boot()?;
            } else {
                case.reboot()?;
            }
            in_force(case, &text)?;
            // OVN's port is the one kept in OVSDB.
            assert!(keeps_patch_port(&case.inside()?, &port)?);
        }
        Ok(())
    })
}

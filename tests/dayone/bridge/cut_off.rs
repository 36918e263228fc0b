//! The agent is killed, or the node loses power, while br-ex is made.

use tests::{
    dayone::{
        ADDRESS, APPLIED, ATTEMPT, BRIDGE_PROFILES, Document, HASTE, HOST_FILE, MAC, Mark, SOON,
        USERSPACE, attempt, bridge_outcome, configure_ovs, kubelet_ran, picture, remove_bridge,
        settle, unwrapped, volatile_profiles, with_bridge, with_program,
    },
    lab::{Case, Error, Inside, Nic, Node, Peer},
    program,
};

use super::{GATE, bridge_attempt, gated, old_network, start};

/// A node whose agent can be made to stop after a phase.
fn node() -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    let node = gated(with_bridge(with_program(node, program::dayone_fault_injection())));
    // A crash is repaired by the case, not by systemd.
    node.file(
        "/etc/systemd/system/dayone-bridge.service.d/60-lab.conf",
        "[Service]\nRestart=no\n",
        0o644,
    )
    .settings(&format!("{HASTE}{USERSPACE}"))
}

/// Starts the agent, and returns when it has done the work of `phase` and waits.
fn hold(inside: &Inside, phase: &str) -> Result<Mark, Error> {
    inside.write("/run/lab-hold", &format!("DAYONE_HOLD_AT={phase}\n"))?;
    let mark = start(inside)?;
    inside.wait_journal(&mark.entries(), ATTEMPT, |entry| entry.field("DAYONE_HELD").is_some())?;
    Ok(mark)
}

#[tests::case]
fn killed_in_each_phase() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (inside, before) = old_network(case)?;
        for (phase, changed) in [
            ("journal", false),
            ("checkpoint", false),
            ("apply-profiles", true),
            ("verify", true),
            ("probe", true),
            ("commit", true),
        ] {
            hold(&inside, phase)?;
            assert_eq!(picture(&inside)? != before, changed, "{phase}");
            killed_and_undone(&inside, phase)?;
            assert!(case.peer().pings(ADDRESS, SOON)?, "{phase}");
            assert_eq!(picture(&inside)?, before, "{phase}");
            assert!(!kubelet_ran(&inside)?, "{phase}");
        }
        // A full disk: the journal is in /run, a killed run is undone by it, and br-ex is made all the same.
        inside.sh("mount -t tmpfs -o size=32k tmpfs /var/lib/dayone; \
             dd if=/dev/zero of=/var/lib/dayone/full bs=32k count=2 2>/dev/null || :")?;
        hold(&inside, "apply-profiles")?;
        assert!(inside.read("/run/dayone/transaction/journal.json")?.is_some());
        killed_and_undone(&inside, "apply-profiles")?;
        assert_eq!(picture(&inside)?, before);
        // A read-only one.
        inside.sh("rm /var/lib/dayone/full; mount -o remount,ro /var/lib/dayone")?;
        bridge_attempt(&inside)?.exits(0);
        let status = inside.run(&["dayone", "status"])?.exits(0);
        let text = unwrapped(&status.stdout);
        assert!(text.contains("; the journal is in /run"), "{status}");
        inside.sh("umount /var/lib/dayone")?;
        works(case)
    })
}

/// Sets the number of attempts that end with the agent.
fn give_up(most: u32) -> String {
    format!("sed -i 's/^max-attempts = .*/max-attempts = {most}/' /etc/dayone/dayone.toml")
}

/// Kills the agent that waits after `phase`, and has its next run undo the change.
fn killed_and_undone(inside: &Inside, phase: &str) -> Result<(), Error> {
    inside.kill("dayone-bridge.service")?;
    inside.wait_unit("dayone-bridge.service", "failed", SOON)?;
    // A run that could plan would hide the undo.
    inside.sh("rm /run/lab-hold; mkdir -p /etc/ovnk; : >/etc/ovnk/default_bridge")?;
    let it = bridge_attempt(inside)?;
    assert!(it.text().contains("default_bridge is empty"), "after {phase}: {}", it.text());
    // The change of the file would end the pause.
    inside.sh("systemctl stop dayone-bridge.service; rm /etc/ovnk/default_bridge")?;
    Ok(())
}

/// configure-ovs.sh can be told to keep its profiles in /etc.
#[tests::case]
fn killed_while_it_takes_over_the_profiles_of_configure_ovs() -> Result<(), Error> {
    configure_ovs(node()).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        settle(&inside)?;
        assert!(case.peer().pings(ADDRESS, SOON)?);
        inside.sh(&format!(
            "systemctl stop kubelet.service kubelet-dependencies.target; touch {GATE}"
        ))?;
        let before = picture(&inside)?;
        assert!(before.contains("ovs-if-br-ex.nmconnection"), "{before}");
        hold(&inside, "take-over")?;
        let ids = inside.sh("nmcli -g NAME connection show")?;
        assert!(!ids.contains("ovs-"), "{ids}");
        killed_and_undone(&inside, "take-over")?;
        assert_eq!(picture(&inside)?, before);
        assert!(case.peer().pings(ADDRESS, SOON)?);

        // An agent that ends in each attempt: configure-ovs, whose turn is over in this boot, is started and makes br-ex.
        inside.sh(&give_up(3))?;
        inside.sh("systemctl stop ovs-configuration.service; rm -f /run/ovs-config-executed")?;
        for _ in 0..3 {
            hold(&inside, "take-over")?;
            inside.kill("dayone-bridge.service")?;
            inside.wait_unit("dayone-bridge.service", "failed", SOON)?;
        }
        inside.sh("rm /run/lab-hold")?;
        bridge_attempt(&inside)?.says("3 attempts in a row ended with the agent");
        inside.wait_unit("ovs-configuration.service", "active", SOON)?;
        assert!(inside.sh("ls /run/dayone")?.lines().all(|mark| !mark.contains("bridge")));
        assert!(case.peer().pings(ADDRESS, SOON)?);
        assert!(inside.sh("nmcli -g NAME connection show")?.contains("ovs-if-br-ex"));
        inside.sh(&give_up(0))?;

        bridge_attempt(&inside)?.exits(0);
        works(case)?;
        assert_eq!(inside.sh("ls /etc/NetworkManager/system-connections")?, "eno1.nmconnection");
        // A boot comes to the same end.
        bridge_outcome(&case.reboot()?, None)?.exits(0);
        works(case)
    })
}

/// Cuts the power after `phase`; the next boot makes br-ex and closes the transaction.
fn cut_off(case: &mut Case<'_>, phase: &str) -> Result<Inside, Error> {
    case.cut_power()?;
    let inside = case.boot()?;
    let it = bridge_outcome(&inside, None)?;
    assert_eq!(it.exit, 0, "after {phase}: {}", it.text());
    inside.wait_unit("kubelet.service", "active", SOON)?;
    works(case)?;
    assert!(!inside.sh("ls /var/lib/dayone")?.contains("transaction"), "{phase}");
    Ok(inside)
}

#[tests::case]
fn power_cut_in_each_phase() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (mut inside, _) = old_network(case)?;
        for phase in ["checkpoint", "apply-profiles", "commit", "record"] {
            hold(&inside, phase)?;
            inside = cut_off(case, phase)?;
            // The next phase begins with the old network.
            remove_bridge(&inside)?;
            inside.sh("rm -f /run/configure-ovs-boot-done /run/dayone/bridge.json")?;
        }
        Ok(())
    })
}

/// The bridge of a document that is gone comes back under a power cut as the automatic one.
#[tests::case]
fn power_cut_while_a_document_gives_br_ex_back() -> Result<(), Error> {
    node().run(&Peer::new(), |case| {
        let (mut inside, _) = old_network(case)?;
        for phase in ["take-over", "apply-profiles", "commit"] {
            inside.write(HOST_FILE, &Document::new().text())?;
            inside.sh("systemctl stop dayone-bridge.service; rm -rf /run/dayone/bridge.json")?;
            let it = attempt(&inside)?;
            assert_eq!(it.exit, 0, "before {phase}: {}", it.text());
            assert!(inside.read(APPLIED)?.is_some());
            inside.sh(&format!("rm {HOST_FILE}"))?;
            hold(&inside, phase)?;
            inside = cut_off(case, phase)?;
            assert_eq!(inside.read(APPLIED)?, None, "{phase}");
            let ids = inside.sh("nmcli -g NAME connection show | sort")?;
            assert!(!ids.contains("br-ex-if"), "{phase}: {ids}");
        }
        Ok(())
    })
}

fn works(case: &Case<'_>) -> Result<(), Error> {
    let inside = case.inside()?;
    assert!(case.peer().pings(ADDRESS, SOON)?);
    assert_eq!(case.peer().mac_of(ADDRESS)?.as_deref(), Some(MAC));
    assert_eq!(volatile_profiles(&inside)?, BRIDGE_PROFILES);
    Ok(())
}

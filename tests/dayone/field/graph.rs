//! systemd-analyze on the units of a whole node in the field, the agent's among them.

use tests::{
    dayone::{MAC, SOON, agent, with_bridge},
    lab::{Error, Field, Inside, Nic, Node, Peer},
};

/// Messages of `systemd-analyze verify` about broken ordering cycles and misread unit files.
const COMPLAINTS: [&str; 6] =
    ["ordering cycle", "deleted to break", "Unknown", "not found", "Failed to", "ignoring"];
const MUTATION: &str = "/etc/systemd/system/dayone.service.d/50-kdump.conf";

fn node(field: Field) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC));
    with_bridge(agent(node.field(field).ovn_remains().mtu_migration(1400)))
}

/// systemd's complaints about the start of the whole node.
pub(super) fn complaints(inside: &Inside) -> Result<Vec<String>, Error> {
    let verify = inside.run(&[
        "systemd-analyze",
        "verify",
        "--man=no",
        "default.target",
        "dayone.service",
        "dayone-wait.service",
        "dayone-recover.service",
        "dayone-bridge.service",
    ])?;
    let lines = verify.stderr.lines();
    Ok(lines
        .filter(|line| COMPLAINTS.iter().any(|complaint| line.contains(complaint)))
        .map(Into::into)
        .collect())
}

fn graph_has_no_cycle(node: Node, version: &str) -> Result<(), Error> {
    node.run(&Peer::new(), |case| {
        let inside = case.power_on()?;
        inside.wait_sh("systemctl is-active basic.target", 3 * SOON)?;
        let systemd = inside.sh("systemctl --version")?;
        assert!(systemd.starts_with(&format!("systemd {version} ")), "{systemd}");
        assert_eq!(complaints(&inside)?, Vec::<String>::new());

        // As with configure-ovs.sh: kdump.service is after network-online.target, which is after the agent.
        inside.write(MUTATION, "[Unit]\nAfter=kdump.service\n")?;
        let broken = complaints(&inside)?.join("\n");
        assert!(broken.contains("ordering cycle"), "{broken}");
        Ok(())
    })
}

#[tests::case]
fn systemd_257_starts_all_of_it() -> Result<(), Error> {
    graph_has_no_cycle(node(Field::two_nodes_5_1()), "257")
}

#[tests::case]
fn systemd_252_starts_all_of_it() -> Result<(), Error> {
    graph_has_no_cycle(node(Field::single_node_5_0()).systemd252(), "252")
}

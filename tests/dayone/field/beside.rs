//! The agent beside the machine-config-operator's units: division of work.

use tests::{
    dayone::{
        APPLIED, DAY_ONE, Document, HASTE, HOST_FILE, MAC, SOON, agent, br_ex_works, finished,
        outcome, patch_port, unhealthy,
    },
    lab::{Case, Error, Field, Lab, Nic, Node, Peer},
};

use super::each_release;

const MTU_MIGRATION: &str = "/etc/cno/mtu-migration/mtu/eno1";

fn node(field: impl Into<Field>) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).keyfile("eno1", DAY_ONE);
    agent(node.field(field).ovn_remains())
}

/// Checks that br-ex is the document's after all jobs of the boot.
fn in_force(case: &Case<'_>, document: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    let it = outcome(&inside, None)?;
    assert_eq!(it.exit, 0, "{}", it.text());
    finished(&inside)?;
    br_ex_works(case)?;
    assert_eq!(inside.read(APPLIED)?.as_deref(), Some(document));
    for unit in ["nmstate.service", "nmstate-configuration.service", "ovs-configuration.service"] {
        let held =
            inside.sh(&format!("systemctl show --property=ConditionResult --value {unit}"))?;
        assert_eq!(held, "no", "{unit}");
    }
    // The agent does the side jobs of the last two units.
    assert!(inside.read("/run/ovs-config-executed")?.is_some());
    assert_eq!(inside.read(MTU_MIGRATION)?, None);
    // The node's address was on br-ex when nodeip-configuration ran.
    assert_eq!(inside.read("/run/lab-forwarding")?.as_deref(), Some("br-ex\n"));
    let online = inside.unit("network-online.target")?;
    assert!(online.active_enter > inside.unit("dayone.service")?.active_enter);
    Ok(())
}

each_release!(peers_do_not_undo_the_commit: release_4_16, release_4_20, release_5_0, two_nodes_5_1);
fn peers_do_not_undo_the_commit(field: Field) -> Result<(), Error> {
    let lab = Lab::open()?;
    let document = Document::new().text();
    let node = node(field).file(HOST_FILE, &document, 0o644).file(MTU_MIGRATION, "1500\n", 0o644);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        in_force(case, &document)?;
        patch_port(&case.inside()?)?;
        case.inside()?
            .sh(&format!("mkdir -p $(dirname {MTU_MIGRATION}); echo 1500 >{MTU_MIGRATION}"))?;

        case.cut_power()?;
        case.boot()?;
        in_force(case, &document)?;
        // The remote of OVN's database of the previous boot was cleared before OVN started.
        let forgotten =
            case.inside()?.wait_journal(&["SYSLOG_IDENTIFIER=dayone"], SOON, |entry| {
                entry.message().contains("address of OVN's southbound database")
            })?;
        assert!(forgotten.moment() < case.inside()?.unit("kubelet.service")?.exec_start);
        Ok(())
    })
}

#[tests::case]
fn failure_that_goes_on_leaves_br_ex_to_configure_ovs() -> Result<(), Error> {
    let lab = Lab::open()?;
    let bad = Document::new().with("192.0.2.1\n    next-hop", "192.0.2.254\n    next-hop").text();
    let settings = format!("on-failure = \"continue\"\n{HASTE}");
    let node = node(Field::two_nodes_4_22()).file(HOST_FILE, &bad, 0o644).settings(&settings);
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
        assert_eq!(outcome(&inside, None)?.exit, 3);
        unhealthy(&inside, "not-in-force")?;
        finished(&inside)?;
        br_ex_works(case)?;
        // Not from the document, which nobody applies.
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(inside.sh("nmcli -g NAME connection show")?.contains("ovs-if-br-ex"));
        let status = inside.run(&["dayone", "status"])?;
        assert_eq!(status.status.code(), Some(3), "{status}");
        Ok(())
    })
}

//! The agent beside the machine-config-operator's units: division of work.

use tests::{
    dayone::{
        APPLIED, Document, ENTRIES, HASTE, MAC, SOON, agent, br_ex_works, finished, outcome,
        patch_port, unhealthy, wrong_gateway,
    },
    lab::{Case, Error, Field, Nic, Node, Peer},
};

use super::each_release;

const MTU_MIGRATION: &str = "/etc/cno/mtu-migration/mtu/eno1";

fn node(field: impl Into<Field>) -> Node {
    let node = Node::new("worker-0").nic(Nic::new("eno1", MAC)).day_one();
    agent(node.field(field).ovn_remains())
}

/// Checks that br-ex is the document's after all jobs of the boot.
fn in_force(case: &Case<'_>, document: &str) -> Result<(), Error> {
    let inside = case.inside()?;
    outcome(&inside, None)?.exits(0);
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
    let document = Document::new().text();
    node(field).document(&document).file(MTU_MIGRATION, "1500\n", 0o644).run(&Peer::new(), |case| {
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
            case.inside()?.wait_message(&ENTRIES, SOON, "address of OVN's southbound database")?;
        assert!(forgotten.moment() < case.inside()?.unit("kubelet.service")?.exec_start);
        Ok(())
    })
}

#[tests::case]
fn failure_that_goes_on_leaves_br_ex_to_configure_ovs() -> Result<(), Error> {
    let bad = wrong_gateway();
    let settings = format!("on-failure = \"continue\"\n{HASTE}");
    node(Field::two_nodes_4_22()).document(&bad).settings(&settings).run(&Peer::new(), |case| {
        let inside = case.boots(3)?;
        unhealthy(&inside, "not-in-force")?;
        finished(&inside)?;
        br_ex_works(case)?;
        // Not from the document, which nobody applies.
        assert_eq!(inside.read(APPLIED)?, None);
        assert!(inside.sh("nmcli -g NAME connection show")?.contains("ovs-if-br-ex"));
        inside.run(&["dayone", "status"])?.exits(3);
        Ok(())
    })
}

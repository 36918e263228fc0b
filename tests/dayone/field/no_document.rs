//! A node of the field with the agent and without a document.

use tests::{
    dayone::{agent, br_ex_works, finished, outcome},
    lab::{Error, Field, Peer},
};

use super::{each_release, node, peers::made_by_configure_ovs};

each_release!(without_a_document_the_peers_work_as_if_the_agent_were_absent: release_4_16, release_5_0, two_nodes_4_22);
fn without_a_document_the_peers_work_as_if_the_agent_were_absent(
    field: Field,
) -> Result<(), Error> {
    agent(node(field)).day_one().run(&Peer::new(), |case| {
        case.boot()?;
        for boot in 0..2 {
            if boot > 0 {
                case.reboot()?;
            }
            let inside = case.inside()?;
            finished(&inside)?;
            outcome(&inside, None)?.exits(0);
            br_ex_works(case)?;
            made_by_configure_ovs(&inside)?;
            for peer in ["nmstate-configuration.service", "ovs-configuration.service"] {
                let unit = inside.unit(peer)?;
                assert!(unit.exec_start.is_some() && unit.result == "success", "{peer}: {unit:?}");
            }
        }
        Ok(())
    })
}

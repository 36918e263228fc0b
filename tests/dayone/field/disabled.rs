//! A node of the field after the agent is disabled, by a feature gate or by hand.

use tests::{
    dayone::{APPLIED, DAY_ONE, Document, HOST_FILE, agent, br_ex_works, finished, outcome},
    lab::{Error, Field, Peer},
};

use super::{each_release, node, peers::made_by_configure_ovs};

const PROFILES: &str = "/etc/NetworkManager/system-connections";

/// The units that an operator's feature gate holds back while it is off, by drop-ins (doc/adoption.md, "The gate").
const GATED: [&str; 6] = [
    "dayone.service",
    "dayone-recover.service",
    "dayone-bridge.service",
    "dayone-pending.path",
    "dayone-health.path",
    "dayone-health.timer",
];
const GATE: &str = "20-gate.conf";
const NEVER: &str = "[Unit]\nConditionPathExists=!/\n";

each_release!(configure_ovs_has_the_node_again_without_the_agent: release_4_20, release_5_0);
/// Without the automatic bridge, whose way back the guide of the migration has: the document's profiles are removed by hand.
fn configure_ovs_has_the_node_again_without_the_agent(field: Field) -> Result<(), Error> {
    let document = Document::new().text();
    agent(node(field)).day_one().document(&document).run(&Peer::new(), |case| {
        let inside = case.boot()?;
        finished(&inside)?;
        outcome(&inside, None)?.exits(0);
        br_ex_works(case)?;

        inside.sh(&format!("rm {HOST_FILE} {APPLIED} {PROFILES}/*"))?;
        inside.write(&format!("{PROFILES}/eno1.nmconnection"), DAY_ONE)?;
        inside.sh(&format!("chmod 0600 {PROFILES}/*"))?;
        for unit in GATED {
            inside.write(&format!("/etc/systemd/system/{unit}.d/{GATE}"), NEVER)?;
        }
        for is_gated in [true, false] {
            if !is_gated {
                // dayone-recover.service stays enabled, and makes no mark.
                let inside = case.inside()?;
                inside.sh(&format!("rm /etc/systemd/system/*.d/{GATE}"))?;
                inside.sh("systemctl disable dayone.service")?;
            }
            let inside = case.reboot()?;
            finished(&inside)?;
            br_ex_works(case)?;
            made_by_configure_ovs(&inside)?;
            assert_eq!(inside.unit("dayone.service")?.exec_start, None);
        }
        Ok(())
    })
}

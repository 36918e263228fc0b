//! The transaction of the automatic bridge.

use tests::lab::{Error, Lab, Peer};

use super::{
    node::{self, REFUSED, booted},
    recorded::recorded,
    recovery::Expected,
};

/// br-ex is removed by hand; its hint stays.
const GONE: &str = "nmcli connection delete ovs-if-br-ex ovs-if-phys0 ovs-port-br-ex ovs-port-phys0 br-ex; \
                    nmcli connection up eno1";

#[test]
fn old_network_or_br_ex() -> Result<(), Error> {
    let Some(lab) = Lab::open()? else { return Ok(()) };
    let mut recordings = Vec::new();
    lab.run(node::node(), &Peer::new(), |case| {
        let inside = booted(case)?;
        for (name, before, settings, exit) in [
            ("the first bridge, rolled back", "", REFUSED, 3),
            ("the first bridge", "", "", 0),
            ("the second bridge", GONE, "", 0),
        ] {
            inside.sh(before)?;
            node::set(&inside, settings)?;
            let recording = recorded(&inside, &["bridge"], None, exit)?;
            recordings.push((name, Expected::new(&recording, (true, true)), recording));
        }
        Ok(())
    })?;
    // Its profiles are in `/run`: little is on the disk.
    node::hold(&recordings, 400)
}

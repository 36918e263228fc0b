//! The transaction of the automatic bridge.

use tests::{
    dayone::remove_bridge,
    lab::{Error, Peer},
};

use super::{
    node::{self, REFUSED, booted},
    recorded::recorded,
    recovery::Expected,
};

#[tests::case]
fn old_network_or_br_ex() -> Result<(), Error> {
    let mut recordings = Vec::new();
    node::node().run(&Peer::new(), |case| {
        let inside = booted(case)?;
        for (name, is_second, settings, exit) in [
            ("the first bridge, rolled back", false, REFUSED, 3),
            ("the first bridge", false, "", 0),
            // Its hint stays.
            ("the second bridge", true, "", 0),
        ] {
            if is_second {
                remove_bridge(&inside)?;
            }
            node::set(&inside, settings)?;
            let recording = recorded(&inside, &["bridge"], None, exit)?;
            recordings.push((name, Expected::new(&recording, (true, true)), recording));
        }
        Ok(())
    })?;
    // Its profiles are in `/run`: little is on the disk.
    node::hold(&recordings, 400)
}

//! The units as systemd sees them.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use tests::{
    dayone::worker,
    lab::{Error, Peer},
};

#[tests::case]
fn systemd_has_nothing_to_say_against_them() -> Result<(), Error> {
    // The address saves the operator's units a wait of one minute.
    worker().day_one().machine_config_operator().run(&Peer::new(), |case| {
        let inside = case.boot()?;
        for unit in [
            "dayone.service",
            "dayone-wait.service",
            "dayone-recover.service",
            "dayone-bridge.service",
            "dayone-pending.service",
            "dayone-pending.path",
            "dayone-trial.service",
            "dayone-health.service",
            "dayone-health@fell-back.service",
            "dayone-health.path",
            "dayone-health.timer",
        ] {
            let verify = inside.run(&["systemd-analyze", "verify", "--man=no", unit])?.exits(0);
            assert_eq!((&*verify.stdout, &*verify.stderr), ("", ""));
            if !unit.ends_with(".service") {
                continue;
            }
            // For the log of the run: the exposure of each unit.
            let security =
                inside.run(&["systemd-analyze", "security", "--no-pager", unit])?.exits(0);
            let level = security.stdout.lines().last().unwrap_or_default();
            println!("{level}");
            assert!(level.contains("Overall exposure level"), "{security}");
        }
        Ok(())
    })
}

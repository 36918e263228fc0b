//! The units as systemd sees them.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use tests::{
    dayone::{DAY_ONE, worker},
    lab::{Error, Lab, Peer},
};

#[tests::case]
fn systemd_has_nothing_to_say_against_them() -> Result<(), Error> {
    let lab = Lab::open()?;
    // The address saves the operator's units a wait of one minute.
    let node = worker().keyfile("eno1", DAY_ONE).machine_config_operator();
    lab.run(node, &Peer::new(), |case| {
        case.boot()?;
        let inside = case.inside()?;
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
            let verify = inside.run(&["systemd-analyze", "verify", "--man=no", unit])?;
            assert!(verify.status.success(), "{verify}");
            assert_eq!((&*verify.stdout, &*verify.stderr), ("", ""));
            if !unit.ends_with(".service") {
                continue;
            }
            // For the log of the run: the exposure of each unit.
            let security = inside.run(&["systemd-analyze", "security", "--no-pager", unit])?;
            assert!(security.status.success(), "{security}");
            let level = security.stdout.lines().last().unwrap_or_default();
            println!("{level}");
            assert!(level.contains("Overall exposure level"), "{security}");
        }
        Ok(())
    })
}

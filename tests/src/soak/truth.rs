//! The status is true, at any moment.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    invariant::{Broken, is_reached},
    machine::Machine,
    node::Kind,
    scene::ACCOUNT,
};
use crate::lab::{Case, Error};

/// Bound on an account that is behind the events.
const BEHIND: Duration = Duration::from_secs(20);
/// Interval of questions.
const QUESTION: Duration = Duration::from_millis(500);
/// Exit code of a network that is not in force.
const NOT_IN_FORCE: i32 = 3;

/// An account that is not so. `seed`: the machine whose disk this one has a copy of.
pub(super) fn status(
    case: &Case<'_>,
    kind: Kind,
    (machine, seed): (Machine, Option<Machine>),
) -> Result<Option<Broken>, Error> {
    let start = Instant::now();
    loop {
        let broken = untrue(case, kind, machine)?;
        if broken.is_none() {
            break;
        }
        if start.elapsed() >= BEHIND {
            return Ok(broken);
        }
        thread::sleep(QUESTION);
    }
    match seed.filter(|_| !kind.is_dhcp()) {
        Some(seed) if case.peer().pings(seed.address(), Duration::from_secs(1))? => {
            Ok(Some(format!("a copy of its disk answers as {}", seed.name())))
        }
        _ => Ok(None),
    }
}

fn untrue(case: &Case<'_>, kind: Kind, machine: Machine) -> Result<Option<Broken>, Error> {
    let inside = case.inside()?;
    let is_held = || -> Result<bool, Error> {
        let marks = "test -e /run/dayone/undecided || test -e /run/dayone/bridge-undecided";
        Ok(inside.run(&["sh", "-c", marks])?.status.success())
    };
    // A job of the boot waits for units before the agent's too.
    let waits = || -> Result<bool, Error> {
        Ok(!inside.sh("systemctl list-jobs --no-legend kubelet.service")?.is_empty())
    };
    let before = is_held()?;
    let status = inside.run_within(&["dayone", "status", "--json"], ACCOUNT)?;
    let after = is_held()?;
    let told: Value = serde_json::from_str(&status.stdout).unwrap_or_default();
    let (verdict, code) = (told["verdict"].as_str().unwrap_or_default(), status.status.code());
    let says = |why: &str| {
        Ok(Some(format!("{why}: {verdict:?}, exit code {code:?}; {}", status.stderr.trim())))
    };
    if verdict.is_empty() {
        return says("the status has no verdict");
    }
    let is_right = verdict == "WAITING" && code == Some(NOT_IN_FORCE);
    if before && after && !is_right {
        return says("kubelet is held");
    }
    if !before && !after && verdict == "WAITING" && !waits()? {
        return says("kubelet is not held");
    }
    if (verdict, code) == ("IN FORCE", Some(0)) && !is_reached(case, kind, machine)? {
        return says("the peer does not reach the node");
    }
    Ok(None)
}

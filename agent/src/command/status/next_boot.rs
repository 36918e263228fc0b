//! The next boot: units that it does not start, and a document that it refuses.

use std::fmt;

use nmgen::chain;
use serde::{Serialize, Serializer};

use crate::{
    document::{Chosen, Document, check, service_files},
    error::{Error, Result},
    paths::Paths,
    run::{marks, units},
};

/// A unit of the agent that the next boot does not start.
#[derive(Clone, Debug)]
pub(super) struct LackingUnit {
    pub(super) name: &'static str,
    pub(super) is_masked: bool,
    /// What the next boot does without it.
    pub(super) effect: &'static str,
}

impl fmt::Display for LackingUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.is_masked { "masked" } else { "disabled" };
        write!(f, "{} is {state}: the next boot {}", self.name, self.effect)
    }
}

impl Serialize for LackingUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns the commands that give the next boot these units back.
pub(super) fn remedy(units: &[LackingUnit]) -> String {
    let names = |is_meant: fn(&LackingUnit) -> bool| {
        let names = units.iter().filter(|unit| is_meant(unit)).map(|unit| unit.name);
        names.collect::<Vec<_>>().join(" ")
    };
    let (masked, all) = (names(|unit| unit.is_masked), names(|_| true));
    match masked.is_empty() {
        true => format!("`systemctl enable {all}`"),
        false => format!("`systemctl unmask {masked}`, then `systemctl enable {all}`"),
    }
}

/// Units of the agent that the next boot does not start, with the effect: those of a document, or of the automatic bridge.
pub(super) fn lacking(paths: &Paths, chosen: &Chosen, is_bridge: bool) -> Vec<LackingUnit> {
    let is_there = |unit: &str| units::is_enabled(paths, unit) && !units::is_masked(paths, unit);
    let recover = (
        "dayone-recover.service",
        "undoes no interrupted transaction before NetworkManager starts",
    );
    let mut lacking = Vec::new();
    let mut note = |name: &'static str, effect: &'static str| {
        let is_masked = units::is_masked(paths, name);
        lacking.push(LackingUnit { name, is_masked, effect });
    };
    if chosen.document.is_some() {
        if !marks::is_agent_enabled(paths) {
            note(
                "dayone.service",
                "neither applies nor proves the document, and leaves it to other tools",
            );
        } else if units::is_masked(paths, "dayone-wait.service") {
            note("dayone-wait.service", "does not start kubelet, which requires it");
        } else if !is_there("dayone-wait.service") {
            note("dayone-wait.service", "starts kubelet before its network is proved");
        }
    } else if is_bridge {
        if !is_there("dayone-bridge.service") {
            note("dayone-bridge.service", "leaves br-ex to configure-ovs");
        }
    } else {
        return lacking;
    }
    if !is_there(recover.0) {
        note(recover.0, recover.1);
    }
    lacking
}

/// Returns whether a start of kubelet has dayone-bridge.service make br-ex.
pub(super) fn makes_bridge(paths: &Paths) -> bool {
    ["ovs-configuration.service", "dayone-bridge.service"]
        .iter()
        .all(|unit| units::is_enabled(paths, unit) && !units::is_masked(paths, unit))
}

/// The refusal of a pending document, as `dayone check` words it.
pub(super) fn refusal(paths: &Paths, chosen: &Chosen, document: &Document) -> Option<String> {
    let checked = || -> Result {
        check::copied_macs(paths, document, &check::check(document)?)?;
        service_files::read(paths, &chosen.hostname)?.due(&[])?;
        Ok(())
    };
    match checked() {
        Ok(()) => None,
        // Without the layer that every refusal has.
        Err(Error::Check(error)) => Some(chain(&error)),
        Err(error) => Some(chain(&error)),
    }
}

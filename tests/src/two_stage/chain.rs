//! The critical chain of a unit: each time the unit that ended last of those that the one before waited for.
//!
//! `systemd-analyze critical-chain` leaves out a oneshot that does not remain active, as units of the field are, and does not look
//! behind a unit whose condition did not hold, although that unit's order did.

use std::{collections::BTreeMap, fmt};

use crate::lab::{Inside, Result};

/// The properties that a chain is made of.
const PROPERTIES: &str = "--property=Id,After,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,\
                          InactiveEnterTimestampMonotonic,ConditionTimestampMonotonic";

/// All units of a boot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Units(BTreeMap<String, Times>);

/// A unit's order and its times, in microseconds after the kernel's start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Times {
    after: Vec<String>,
    start: u64,
    end: u64,
}

/// A unit of a chain.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Its name.
    pub unit: String,
    /// Seconds after the kernel's start.
    pub start: f64,
    /// Seconds until it let others go on.
    pub took: f64,
}

impl Units {
    /// The units of this boot.
    ///
    /// # Errors
    /// If systemd does not tell.
    pub(super) fn of(inside: &Inside) -> Result<Self> {
        let text = inside.run(&["systemctl", "show", "--all", PROPERTIES, "*"])?.success()?;
        Ok(Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let units = text.split("\n\n").filter_map(|block| {
            let value = |key: &str| {
                block.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
            };
            let time = |key| value(key).and_then(|number| number.parse().ok()).unwrap_or_default();
            let after = value("After").unwrap_or_default();
            let condition: u64 = time("ConditionTimestampMonotonic");
            let (start, active) =
                (time("InactiveExitTimestampMonotonic"), time("ActiveEnterTimestampMonotonic"));
            // Without a start there was a condition, or nothing at all.
            let start = if start == 0 { condition } else { start };
            let end = match active >= start {
                true => active,
                false => time("InactiveEnterTimestampMonotonic"),
            };
            let after = after.split_whitespace().map(str::to_owned).collect();
            Some((value("Id")?.to_owned(), Times { after, start, end: end.max(start) }))
        });
        Self(units.collect())
    }

    /// Seconds from the kernel's start to the unit's.
    pub(super) fn start(&self, unit: &str) -> Option<f64> {
        self.ran(unit).map(|times| seconds(times.start))
    }

    /// Seconds from the kernel's start until the unit let others go on.
    pub(super) fn end(&self, unit: &str) -> Option<f64> {
        self.ran(unit).map(|times| seconds(times.end))
    }

    /// The last start, until this moment, of the units whose names begin so.
    pub(super) fn last_start(&self, prefix: &str, until: f64) -> Option<f64> {
        let all = self.0.iter().filter(|(name, times)| name.starts_with(prefix) && times.start > 0);
        all.map(|(_, times)| seconds(times.start)).filter(|start| *start <= until).reduce(f64::max)
    }

    fn ran(&self, unit: &str) -> Option<&Times> {
        self.0.get(unit).filter(|times| times.start > 0)
    }

    /// The chain that ends with this unit, which is its first element.
    pub(super) fn critical_chain(&self, unit: &str) -> Vec<Link> {
        let mut chain = Vec::new();
        let mut next = self.0.get_key_value(unit).filter(|(_, times)| times.start > 0);
        while let Some((unit, times)) = next {
            let took = seconds(times.end - times.start);
            chain.push(Link { unit: unit.clone(), start: seconds(times.start), took });
            let before = times.after.iter().filter_map(|name| self.0.get_key_value(name));
            // A chain goes back in time: of two ends at one moment none is behind the other.
            let before = before.filter(|(_, other)| other.start > 0 && other.end <= times.start);
            let before = before.filter(|(_, other)| other.start < times.start);
            next = before.max_by_key(|(_, other)| other.end);
        }
        chain
    }
}

fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

/// As systemd-analyze prints a chain, in one line: the time of the start, and what it took.
impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @{:.3}s", self.unit, self.start)?;
        if self.took > 0.0 { write!(f, " +{:.0}ms", self.took * 1e3) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(id: &str, after: &str, [exit, active, inactive, condition]: [u64; 4]) -> String {
        format!(
            "Id={id}\nAfter={after}\nInactiveExitTimestampMonotonic={exit}\nActiveEnterTimestampMonotonic={active}\n\
             InactiveEnterTimestampMonotonic={inactive}\nConditionTimestampMonotonic={condition}\n\n"
        )
    }

    #[test]
    fn oneshots_and_skipped_units_are_links() {
        let text = [
            unit("kubelet.service", "dependencies.target early.service", [900, 950, 0, 900]),
            unit("dependencies.target", "skipped.service never.service", [800, 800, 0, 800]),
            unit("skipped.service", "oneshot.service", [0, 0, 0, 700]),
            unit("never.service", "late.service", [0; 4]),
            unit("oneshot.service", "", [300, 0, 600, 300]),
            unit("early.service", "", [100, 200, 0, 100]),
            unit("late.service", "", [700, 790, 0, 700]),
        ]
        .concat();
        let chain = Units::parse(&text).critical_chain("kubelet.service");
        let names: Vec<&str> = chain.iter().map(|link| link.unit.as_str()).collect();
        let expected =
            ["kubelet.service", "dependencies.target", "skipped.service", "oneshot.service"];
        assert_eq!(names, expected);
        assert!((chain[3].took - 300e-6).abs() < 1e-9, "{chain:?}");
    }
}

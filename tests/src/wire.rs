//! `dayone probe` on a node, held to its schema.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{
    lab::{Inside, Output, Result},
    schema,
};

/// The report; the exit code has to be this one.
///
/// # Errors
/// If the node does not answer.
///
/// # Panics
/// If the report is none of the schema, or the exit code another one.
pub fn probed(inside: &Inside, code: i32) -> Result<Value> {
    Ok(report(asked(inside)?, code))
}

/// The report once it has what is `wanted`: a switch and its partner take seconds to find that something has changed.
///
/// # Errors
/// If the node does not answer.
///
/// # Panics
/// As [`probed`] does, and if the report has it not within `limit`.
pub fn probed_until(
    inside: &Inside,
    code: i32,
    limit: Duration,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Value> {
    let start = Instant::now();
    loop {
        let output = asked(inside)?;
        let told: Value = serde_json::from_str(&output.stdout).unwrap_or_default();
        if wanted(&told) {
            return Ok(report(output, code));
        }
        assert!(start.elapsed() < limit, "{output}");
    }
}

fn asked(inside: &Inside) -> Result<Output> {
    inside.run(&["dayone", "probe", "--format", "json"])
}

fn report(output: Output, code: i32) -> Value {
    let report = output.exits(code).json();
    schema::fits("agent/doc/probe", &report);
    assert_eq!(report["ok"], code == 0, "{report}");
    report
}

/// The sentence of a probe about a target, if it has this result.
pub fn detail<'r>(report: &'r Value, probe: &str, target: &str, result: &str) -> Option<&'r str> {
    let mut findings = report["findings"].as_array()?.iter();
    let is_it = |finding: &&Value| {
        finding["probe"] == probe && finding["target"] == target && finding["result"] == result
    };
    findings.find(is_it)?["detail"].as_str()
}

/// Whether a probe has this result for this target.
pub fn has(report: &Value, probe: &str, target: &str, result: &str) -> bool {
    detail(report, probe, target, result).is_some()
}

//! Findings as JSON for programs.

use nmgen_document::diagnostic::Diagnostic;
use nmgen_document::format::printable_json;
use serde_json::{Value, json};

/// The number to raise when a field changes its meaning or goes.
const SCHEMA: u32 = 1;

/// One object, which `doc/check.schema.json` describes; `error` is the failure that ended the reading, `cluster` the name of a
/// finding's cluster. Ends in a line break.
pub(super) fn object<'c>(
    diagnostics: &[Diagnostic],
    error: Option<&str>,
    cluster: impl Fn(&Diagnostic) -> Option<&'c str>,
) -> String {
    let findings: Vec<Value> =
        diagnostics.iter().map(|finding| one(finding, cluster(finding))).collect();
    let value = json!({
        "schema": SCHEMA,
        "version": env!("CARGO_PKG_VERSION"),
        "error": error,
        "findings": findings,
    });
    printable_json(&format!("{value:#}\n"))
}

fn one(diagnostic: &Diagnostic, cluster: Option<&str>) -> Value {
    let place = &diagnostic.place;
    let start = place.position.as_ref().map(|excerpt| excerpt.start);
    let end = place.position.as_ref().map(|at| at.start.column + at.width.max(1));
    let decoded = place.decoded.as_ref().map(|excerpt| excerpt.start);
    json!({
        "rule": diagnostic.rule.name,
        "severity": diagnostic.rule.severity.to_string(),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "host": diagnostic.host.as_deref(),
        "cluster": cluster,
        "file": place.file.as_ref(),
        "line": start.map(|p| p.line),
        "column": start.map(|p| p.column),
        "end_column": end,
        "decoded": decoded.map(|at| json!({ "line": at.line, "column": at.column })),
    })
}

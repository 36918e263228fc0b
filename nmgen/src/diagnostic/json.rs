//! Diagnostics as JSON for programs.

use serde_json::{Value, json};

use super::finding::Diagnostic;

/// One array of `{rule, severity, message, help, file, line, column, end_column, decoded}`; `help`,
/// `line`, `column`, `end_column` and `decoded` may be null. `end_column` follows the last character.
/// `decoded` is `{line, column}` within the decoded text of an encoded value. Ends in a line break.
pub fn to_json(diagnostics: &[Diagnostic]) -> String {
    let values: Vec<Value> = diagnostics.iter().map(one).collect();
    format!("{:#}\n", Value::Array(values))
}

fn one(diagnostic: &Diagnostic) -> Value {
    let place = &diagnostic.place;
    let start = place.position.as_ref().map(|excerpt| excerpt.start);
    let end = place.position.as_ref().map(|at| at.start.column + at.width.max(1));
    let decoded = place.decoded.as_ref().map(|excerpt| excerpt.start);
    json!({
        "rule": diagnostic.rule.name,
        "severity": diagnostic.rule.severity.to_string(),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "file": place.file.as_ref(),
        "line": start.map(|p| p.line),
        "column": start.map(|p| p.column),
        "end_column": end,
        "decoded": decoded.map(|at| json!({ "line": at.line, "column": at.column })),
    })
}

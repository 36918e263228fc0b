//! Diagnostics as JSON for programs.

use serde_json::{Value, json};

use super::Diagnostic;

/// One array of `{rule, severity, message, help, file, line, column}`; `help`, `line` and `column` may
/// be null. Ends in a line break.
pub fn to_json(diagnostics: &[Diagnostic]) -> String {
    let values: Vec<Value> = diagnostics.iter().map(one).collect();
    format!("{:#}\n", Value::Array(values))
}

fn one(diagnostic: &Diagnostic) -> Value {
    let start = diagnostic.place.position.as_ref().map(|excerpt| excerpt.start);
    json!({
        "rule": diagnostic.rule.name,
        "severity": diagnostic.rule.severity.to_string(),
        "message": diagnostic.message,
        "help": diagnostic.help,
        "file": diagnostic.place.file.as_ref(),
        "line": start.map(|p| p.line),
        "column": start.map(|p| p.column),
    })
}

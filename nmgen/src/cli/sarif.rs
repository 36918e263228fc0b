//! Findings as SARIF 2.1.0 (OASIS), for code scanning.

use nmgen_document::diagnostic::{Diagnostic, Rule, Severity};
use nmgen_document::format::printable_json;
use serde_json::{Value, json};

/// One run with every rule that has a finding; `error` is the failure that ended it. Ends in a line break.
pub(super) fn log(diagnostics: &[Diagnostic], error: Option<&str>) -> String {
    let notifications: Vec<Value> = error
        .iter()
        .map(|error| json!({ "level": "error", "message": { "text": error } }))
        .collect();
    let mut rules: Vec<Rule> = diagnostics.iter().map(|diagnostic| diagnostic.rule).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup();
    let results: Vec<Value> = diagnostics.iter().map(|one| result(one, &rules)).collect();
    let rules: Vec<Value> = rules
        .iter()
        .map(|rule| json!({ "id": rule.name, "defaultConfiguration": { "level": level(rule.severity) } }))
        .collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "nmgen", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "invocations": [{
                "executionSuccessful": error.is_none(),
                "toolExecutionNotifications": notifications,
            }],
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    printable_json(&format!("{log:#}\n"))
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

fn result(diagnostic: &Diagnostic, rules: &[Rule]) -> Value {
    let place = &diagnostic.place;
    let region = place.position.as_ref().map(|at| {
        let (line, column) = (at.start.line, at.start.column);
        json!({ "startLine": line, "startColumn": column, "endColumn": column + at.width.max(1) })
    });
    let mut physical = json!({ "artifactLocation": { "uri": uri(&place.file) } });
    if let (Some(region), Value::Object(physical)) = (region, &mut physical) {
        physical.insert("region".to_owned(), region);
    }
    let text = match &diagnostic.help {
        Some(help) => format!("{}\nhelp: {help}", diagnostic.message),
        None => diagnostic.message.clone(),
    };
    json!({
        "ruleId": diagnostic.rule.name,
        "ruleIndex": rules.iter().position(|rule| *rule == diagnostic.rule),
        "level": level(diagnostic.rule.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": physical }],
    })
}

/// A path as a relative reference or an absolute file's URI, RFC 3986.
fn uri(path: &str) -> String {
    const KEPT: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC
        .remove(b'/')
        .remove(b'.')
        .remove(b'-')
        .remove(b'_')
        .remove(b'~');
    let encoded = percent_encoding::utf8_percent_encode(path, KEPT);
    if path.starts_with('/') { format!("file://{encoded}") } else { encoded.to_string() }
}

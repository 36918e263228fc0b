//! Findings as SARIF 2.1.0 (OASIS), for code scanning.

use std::collections::HashMap;

use nmgen_document::diagnostic::{Diagnostic, Rule, Severity};
use nmgen_document::format::hex;
use nmgen_fleet::Suppressed;
use serde::Serialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{
    explain,
    json::{self, Items},
};

/// The installed page of the checks, with a section a rule.
const PAGE: &str = "file:///usr/share/doc/nmgen/checks.md";

/// One run with every rule that has a finding, suppressed ones included; `error` is the failure that ended it. Ends in a line
/// break.
pub(super) fn log(told: &[Diagnostic], suppressed: &[Suppressed], error: Option<&str>) -> String {
    let reasons = suppressed.iter().map(|suppressed| Some(&*suppressed.reason));
    let reasons: Vec<Option<&str>> = told.iter().map(|_| None).chain(reasons).collect();
    let diagnostics =
        || told.iter().chain(suppressed.iter().map(|suppressed| &suppressed.diagnostic));
    let notifications: Vec<Value> = error
        .iter()
        .map(|error| json!({ "level": "error", "message": { "text": error } }))
        .collect();
    let mut rules: Vec<Rule> = diagnostics().map(|diagnostic| diagnostic.rule).collect();
    rules.sort_by_key(|rule| rule.name);
    rules.dedup();
    let results = || {
        let mut seen = HashMap::new();
        let rules = &rules;
        diagnostics().zip(&reasons).map(move |(one, reason)| {
            let print = fingerprint(one, &mut seen);
            result(one, rules, &print, *reason)
        })
    };
    let described: Vec<Value> = rules.iter().map(described).collect();
    json::text(&SarifLog {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: [SarifRun {
            tool: json!({ "driver": { "name": "nmgen", "version": env!("CARGO_PKG_VERSION"), "rules": described } }),
            invocations: json!([{
                "executionSuccessful": error.is_none(),
                "toolExecutionNotifications": notifications,
            }]),
            column_kind: "unicodeCodePoints",
            results: Items(results),
        }],
    })
}

#[derive(Serialize)]
struct SarifLog<R> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [SarifRun<R>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifRun<R> {
    tool: Value,
    invocations: Value,
    column_kind: &'static str,
    results: R,
}

/// A rule with what its section of the documentation says.
fn described(rule: &Rule) -> Value {
    let section = explain::section(rule.name).unwrap_or_default();
    json!({
        "id": rule.name,
        "shortDescription": { "text": explain::summary(section) },
        "helpUri": format!("{PAGE}#{}", rule.name),
        "help": { "text": section, "markdown": section },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

/// A finding is the same one while rule, host and line are, wherever the line moves; a second one in the same line counts on.
fn fingerprint<'d>(
    one: &'d Diagnostic,
    seen: &mut HashMap<(&'d str, &'d str, &'d str, &'d str), usize>,
) -> String {
    let host = one.host.as_deref().unwrap_or_default();
    let excerpt = one.place.decoded.as_ref().or(one.place.position.as_ref());
    let line = excerpt.map_or("", |excerpt| excerpt.line.trim());
    let known = seen.entry((one.rule.name, &one.place.file, host, line)).or_default();
    let text = [one.rule.name, &one.place.file, host, line, &known.to_string()].join("\0");
    *known += 1;
    let digest = Sha256::digest(text.as_bytes());
    hex(&digest[..16])
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// `reason`: of a comment that suppresses the finding.
fn result(
    diagnostic: &Diagnostic,
    rules: &[Rule],
    fingerprint: &str,
    reason: Option<&str>,
) -> Value {
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
    let mut result = json!({
        "ruleId": diagnostic.rule.name,
        "ruleIndex": rules.iter().position(|rule| *rule == diagnostic.rule),
        "level": level(diagnostic.rule.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": physical }],
        "partialFingerprints": { "nmgenFinding/v1": fingerprint },
    });
    if let Some(reason) = reason {
        result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
    }
    result
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

//! Findings as JSON for programs.

use nmgen_document::diagnostic::Diagnostic;
use nmgen_document::format::printable_json;
use serde::{Serialize, Serializer};
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
    text(&FindingsObject {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        error,
        findings: Items(|| diagnostics.iter().map(|finding| one(finding, cluster(finding)))),
    })
}

#[derive(Serialize)]
struct FindingsObject<'a, F> {
    schema: u32,
    version: &'static str,
    error: Option<&'a str>,
    findings: F,
}

/// A list whose items are made one by one while they are written. All of them as values take ten times the memory of their text.
pub(super) struct Items<F>(pub(super) F);

impl<F: Fn() -> I, I: Iterator<Item = Value>> Serialize for Items<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Returns the text of an object, for terminals too. Ends in a line break.
pub(super) fn text(object: &impl Serialize) -> String {
    // Neither a write to memory nor a key that is a text fails.
    let mut text = serde_json::to_string_pretty(object).unwrap_or_default();
    text.push('\n');
    printable_json(text)
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

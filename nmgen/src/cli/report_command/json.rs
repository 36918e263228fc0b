//! A report as JSON; `nmgen/doc/report.schema.json` describes it.

use nmgen_document::format::printable_json;
use nmgen_fleet::report::{Node, Report};
use serde_json::{Value, json};

/// One object. Ends in a line break.
pub(super) fn json(nodes: &[Node], report: &Report) -> String {
    let names = |of: &[usize]| -> Vec<&str> { of.iter().map(|it| &*nodes[*it].name).collect() };
    let outcomes = report.outcomes.iter().map(|it| {
        json!({ "verdict": it.verdict, "reason": it.reason, "good": it.good, "nodes": names(&it.nodes) })
    });
    let groups = report.groups.iter();
    let groups = groups.map(|it| json!({ "words": it.words, "nodes": names(&it.nodes) }));
    let late = report.late.iter().map(|it| json!({ "node": nodes[it.node].name, "why": it.why }));
    let documents = report.documents.iter().map(|it| {
        let (role, digest) = (&it.role, &it.digest);
        json!({ "role": role, "document": it.document, "digest": digest, "nodes": names(&it.nodes) })
    });
    let one = |it: &Node| {
        json!({
            "name": it.name,
            "file": it.file,
            "role": it.role,
            "verdict": it.verdict,
            "reason": it.reason,
            "good": it.is_good(),
            "why": it.why,
            "document": it.document,
            "digest": it.digest,
            "pending": it.pending,
            "collected": it.collected,
            "version": it.version,
        })
    };
    let all = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "good": report.is_good(),
        "outcomes": outcomes.collect::<Vec<Value>>(),
        "groups": groups.collect::<Vec<Value>>(),
        "late": late.collect::<Vec<Value>>(),
        "documents": documents.collect::<Vec<Value>>(),
        "nodes": nodes.iter().map(one).collect::<Vec<Value>>(),
    });
    printable_json(&format!("{all:#}\n"))
}

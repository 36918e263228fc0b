//! A report as JSON; `nmgen/doc/report.schema.json` describes it.

use nmgen_fleet::report::{Node, Report};
use serde_json::{Value, json};

/// One object. Ends in a line break.
pub(super) fn json(nodes: &[Node], report: &Report) -> String {
    let names =
        |of: &[usize]| -> Vec<&str> { of.iter().map(|index| &*nodes[*index].name).collect() };
    let outcomes = report.outcomes.iter().map(|outcome| {
        json!({
            "verdict": outcome.verdict,
            "reason": outcome.reason,
            "good": outcome.good,
            "nodes": names(&outcome.nodes),
        })
    });
    let groups = report.groups.iter();
    let groups = groups.map(|group| json!({ "words": group.words, "nodes": names(&group.nodes) }));
    let late =
        report.late.iter().map(|late| json!({ "node": nodes[late.node].name, "why": late.why }));
    let documents = report.documents.iter().map(|document| {
        let (role, digest) = (&document.role, &document.digest);
        json!({
            "role": role,
            "document": document.document,
            "digest": digest,
            "nodes": names(&document.nodes),
        })
    });
    let one = |node: &Node| {
        json!({
            "name": node.name,
            "file": node.file,
            "role": node.role,
            "verdict": node.verdict,
            "reason": node.reason,
            "good": node.is_good(),
            "why": node.why,
            "document": node.document,
            "digest": node.digest,
            "pending": node.pending,
            "collected": node.collected,
            "version": node.version,
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
    crate::cli::json::text(&all)
}

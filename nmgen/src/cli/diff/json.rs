//! Differences as JSON; `nmgen/doc/diff.schema.json` describes it.

use nmgen_core::difference::Inline;
use nmgen_core::source::Stage;
use nmgen_document::Node;
use nmgen_fleet::changes::{Change, Document, HostChange};
use serde::Deserialize;
use serde_json::{Value, json};

/// One object with the changes in the order of the hosts. Ends in a line break.
pub(super) fn json(changes: &[HostChange]) -> String {
    let changes: Vec<Value> = changes.iter().map(one).collect();
    let all = json!({ "schema": 1, "version": env!("CARGO_PKG_VERSION"), "changes": changes });
    crate::cli::json::text(&all)
}

fn one(changed: &HostChange) -> Value {
    let (change, differences) = match &changed.change {
        Change::Added => ("added", Vec::new()),
        Change::Removed => ("removed", Vec::new()),
        Change::Changed { facts, document } => {
            let facts = facts.iter().map(
                |fact| json!({ "field": fact.field, "before": fact.before, "after": fact.after }),
            );
            (document_change(document), facts.chain(fields(document)).collect())
        }
    };
    json!({
        "cluster": changed.cluster.as_deref(),
        "host": changed.host,
        "role": changed.role,
        "stage": match changed.stage {
            Stage::Early => "early",
            Stage::Node => "node",
            Stage::Any => "any",
        },
        "policy": changed.policy,
        "change": change,
        "differences": differences,
    })
}

fn document_change(document: &Document) -> &'static str {
    match document {
        Document::Added => "document-added",
        Document::Removed => "document-removed",
        Document::Fields(_) => "changed",
    }
}

fn fields(document: &Document) -> Vec<Value> {
    let Document::Fields(fields) = document else { return Vec::new() };
    let fields = fields.iter().map(|field| {
        let value = |node: &Option<Node<'static>>| node.as_ref().map(value);
        json!({ "field": field.field, "before": value(&field.before), "after": value(&field.after) })
    });
    fields.collect()
}

/// The value with YAML's types; as text where JSON has no such number.
fn value(node: &Node<'_>) -> Value {
    Value::deserialize(node).unwrap_or_else(|_| Inline(node).to_string().into())
}

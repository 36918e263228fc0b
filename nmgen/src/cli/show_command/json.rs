//! The stacks as JSON; `nmgen/doc/show.schema.json` describes it.

use std::collections::HashSet;

use nmgen_core::show::label::{self, Routes};
use nmgen_core::source::{Host, Stage};
use nmgen_core::{interface, stack};
use nmgen_document::{Document, Node};
use serde_json::{Value, json};

/// One object with the hosts in their order. Ends in a line break.
pub(super) fn json(hosts: &[Host]) -> String {
    let stacks = hosts.iter().filter_map(|host| Some(one(host, &host.document()?.shown())));
    let all = json!({
        "schema": 1,
        "version": env!("CARGO_PKG_VERSION"),
        "hosts": stacks.collect::<Vec<_>>(),
    });
    crate::cli::json::text(&all)
}

fn one(host: &Host, document: &Document<'_>) -> Value {
    let root = &document.root;
    let routes = Routes::of(root);
    let interfaces = interface::all(root);
    let names: HashSet<&str> =
        interfaces.iter().filter_map(|interface| interface.text_at("name")).collect();
    let mut other = label::host(root);
    other.extend(label::other_routes(root, |name| names.contains(name)));
    json!({
        "host": host.name,
        "cluster": host.cluster.as_deref(),
        "role": host.role,
        "stage": stage(host.stage),
        "policy": host.policy,
        "file": &*host.place.file,
        "interfaces": interfaces.iter().map(|node| interface(node, &routes)).collect::<Vec<_>>(),
        "other": other,
    })
}

fn interface(node: &Node<'_>, routes: &Routes<'_>) -> Value {
    let below: Vec<&str> = stack::below(node).iter().map(|reference| reference.name).collect();
    json!({
        "name": node.text_at("name"),
        "type": node.text_at("type"),
        "properties": label::properties(node),
        "details": label::details(node, routes),
        "below": below,
    })
}

/// The name of a stage in JSON.
pub(super) const fn stage(stage: Stage) -> &'static str {
    match stage {
        Stage::Early => "early",
        Stage::Node => "node",
        Stage::Any => "any",
    }
}

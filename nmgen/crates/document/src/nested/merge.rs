//! `<<: *base`, the merge key of YAML 1.1: Go tools for manifests support it, NMState does not.

use std::collections::HashSet;

use crate::parsed::Document;
use crate::tree::{Entry, Node, Value};

const MERGE: &str = "<<";

impl Document<'_> {
    /// Resolves merge keys. Not for NMState documents, which have none.
    pub fn merged(mut self) -> Self {
        // Most texts have none.
        if self.source().text.contains(MERGE) {
            merge(&mut self.root);
        }
        self
    }
}

/// Replaces each merge key with the merged entries; the mapping's own keys win.
fn merge(node: &mut Node<'_>) {
    match &mut node.value {
        Value::Scalar { .. } => {}
        Value::Sequence(items) => items.iter_mut().for_each(merge),
        Value::Mapping(entries) => {
            entries.iter_mut().for_each(|entry| merge(&mut entry.node));
            let at = entries.iter().position(|entry| entry.key == MERGE && is_base(&entry.node));
            if let Some(at) = at {
                let base = entries.remove(at).node;
                let mut keys: HashSet<_> = entries.iter().map(|entry| entry.key.clone()).collect();
                let merged = bases(base).into_iter().filter(|entry| keys.insert(entry.key.clone()));
                let merged: Vec<_> = merged.collect();
                entries.splice(at..at, merged);
            }
        }
    }
}

fn is_base(node: &Node<'_>) -> bool {
    let is_mapping = |node: &Node<'_>| matches!(node.value, Value::Mapping(_));
    is_mapping(node) || (!node.items().is_empty() && node.items().iter().all(is_mapping))
}

/// The entries of a mapping, or of a list of mappings.
fn bases(node: Node<'_>) -> Vec<Entry<'_>> {
    match node.value {
        Value::Scalar { .. } => Vec::new(),
        Value::Sequence(items) => items.into_iter().flat_map(bases).collect(),
        Value::Mapping(entries) => entries,
    }
}

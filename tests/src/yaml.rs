//! Paths into YAML values.

use serde_yaml::Value;

/// A key of a mapping or a position in a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A mapping's key.
    Key(String),
    /// A list's position.
    Index(usize),
}

/// Every scalar except null, with its path.
pub fn leaves(value: &Value) -> Vec<(Vec<Step>, Value)> {
    let mut found = Vec::new();
    walk(value, &mut Vec::new(), &mut |path, value| {
        if !value.is_mapping() && !value.is_sequence() && !value.is_null() {
            found.push((path.to_vec(), value.clone()));
        }
    });
    found
}

/// Calls `visit` for every value, parents first.
pub fn walk(value: &Value, path: &mut Vec<Step>, visit: &mut impl FnMut(&[Step], &Value)) {
    visit(path, value);
    if let Some(mapping) = value.as_mapping() {
        for (key, value) in mapping {
            path.push(Step::Key(key.as_str().unwrap_or_default().to_owned()));
            walk(value, path, visit);
            path.pop();
        }
    }
    for (index, value) in value.as_sequence().into_iter().flatten().enumerate() {
        path.push(Step::Index(index));
        walk(value, path, visit);
        path.pop();
    }
}

/// The value at the end of a path.
pub fn find<'v>(value: &'v Value, path: &[Step]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => value.get(*index),
    })
}

/// The value at the end of a path.
pub fn find_mut<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key.as_str()),
        Step::Index(index) => value.get_mut(*index),
    })
}

/// The document with another value at the end of the path.
pub fn replaced(document: &Value, path: &[Step], value: Value) -> Value {
    let mut changed = document.clone();
    if let Some(place) = find_mut(&mut changed, path) {
        *place = value;
    }
    changed
}

/// The document with every occurrence of a value replaced.
pub fn renamed(document: &Value, value: &Value, other: &Value) -> Value {
    let mut changed = document.clone();
    for (path, found) in leaves(document) {
        if found == *value && !matches!(value, Value::Bool(_) | Value::Number(_)) {
            changed = replaced(&changed, &path, other.clone());
        }
    }
    changed
}

/// The shape of a path, without positions in lists: `interfaces[].ipv4.address[].ip`.
pub fn shape(path: &[Step]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Index(_) => text.push_str("[]"),
            Step::Key(key) => {
                if !text.is_empty() {
                    text.push('.');
                }
                text.push_str(key);
            }
        }
    }
    text
}

/// The last key of a path.
pub fn last_key(path: &[Step]) -> &str {
    let keys = path.iter().rev().find_map(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    keys.unwrap_or_default()
}

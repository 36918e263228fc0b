//! What stands in no document: a key that says nothing.

use serde_json::{Map, Value};

/// Removes keys without a value and mappings without a key, at any depth.
pub(crate) fn drop_empty(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.values_mut().for_each(drop_empty);
            map.retain(|_, value| {
                !value.is_null() && !value.as_object().is_some_and(Map::is_empty)
            });
        }
        Value::Array(items) => items.iter_mut().for_each(drop_empty),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// A list that stands in the document only with an entry.
pub(crate) fn some(list: Vec<Value>) -> Option<Vec<Value>> {
    Some(list).filter(|list| !list.is_empty())
}

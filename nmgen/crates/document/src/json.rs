//! A JSON value as a tree: what a program wrote, which has no text and so no places.

use serde_json::Value as Json;

use super::tree::{Entry, Node, Value};
use crate::text::{Position, Span};

/// The place of everything in such a tree.
const NOWHERE: Position = Position { line: 1, column: 1 };

impl From<Json> for Node<'static> {
    fn from(json: Json) -> Self {
        let span = Span { start: NOWHERE, end: NOWHERE };
        let scalar = |text: String, plain| Value::Scalar { text: text.into(), plain };
        let value = match json {
            Json::String(text) => scalar(text, false),
            Json::Null | Json::Bool(_) | Json::Number(_) => scalar(json.to_string(), true),
            Json::Array(items) => Value::Sequence(items.into_iter().map(Self::from).collect()),
            Json::Object(entries) => {
                let entry = |(key, value): (String, Json)| Entry {
                    key: key.into(),
                    key_span: span,
                    node: value.into(),
                };
                Value::Mapping(entries.into_iter().map(entry).collect())
            }
        };
        Self { span, value }
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::{Json, Node};

    #[test]
    fn a_value_is_read_back() -> Result<(), serde_json::Error> {
        let value = json!({"a": [1, -2, 1.5, true, null, "1", "null"], "b": {"c": "d"}, "e": []});
        let tree = Node::from(value.clone());
        assert_eq!(Json::deserialize(&tree).map_err(serde::de::Error::custom)?, value);
        Ok(())
    }
}

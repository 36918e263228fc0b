//! Validates JSON by the part of JSON Schema that the documentation's schemas use. A field that a schema does not have is a fault
//! too, so that no output is undocumented.

use std::fs;

use serde_json::Value;

use crate::program;

/// The schema of the documentation with this name, such as `agent/doc/status`.
///
/// # Panics
/// If there is none.
pub fn of(name: &str) -> Value {
    let text = fs::read(program::root().join(format!("{name}.schema.json")));
    serde_json::from_slice(&text.unwrap_or_default()).expect("a schema")
}

/// Checks that a value is what the schema with this name says.
///
/// # Panics
/// With the faults, if it is not.
#[track_caller]
pub fn fits(name: &str, value: &Value) {
    assert_eq!(faults(&of(name), value), Vec::<String>::new(), "{name}: {value}");
}

/// The faults of a value, each with its place.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    validate(schema, schema, value, "", &mut faults);
    faults
}

/// The keywords that [`validate`] knows, and those that are for people. Another would go unheard.
const KEYWORDS: [&str; 13] = [
    "$defs",
    "$id",
    "$ref",
    "$schema",
    "const",
    "description",
    "enum",
    "items",
    "oneOf",
    "properties",
    "required",
    "title",
    "type",
];

fn validate(root: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let unknown = |keyword: &&String| !KEYWORDS.contains(&keyword.as_str());
    if let Some(keyword) = schema.as_object().and_then(|object| object.keys().find(unknown)) {
        faults.push(format!("{at}: the schema's {keyword} is not checked here"));
    }
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        match target {
            Some(target) => validate(root, target, value, at, faults),
            None => faults.push(format!("{at}: the schema has no {reference}")),
        }
        return;
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| {
            let mut own = Vec::new();
            validate(root, choice, value, at, &mut own);
            own.is_empty()
        };
        if choices.iter().filter(fits).count() != 1 {
            faults.push(format!("{at}: {value} is not one of the choices"));
        }
        return;
    }
    let is_const = schema.get("const").is_none_or(|only| only == value);
    let is_listed = schema["enum"].as_array().is_none_or(|all| all.contains(value));
    if !is_const || !is_listed || !has_type(&schema["type"], value) {
        faults.push(format!("{at}: {value} is not what the schema says"));
        return;
    }
    if let (Some(fields), Some(properties)) = (value.as_object(), schema["properties"].as_object())
    {
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                faults.push(format!("{at}: {name} is missing"));
            }
        }
        for (name, field) in fields {
            match properties.get(name) {
                Some(schema) => validate(root, schema, field, &format!("{at}/{name}"), faults),
                None => faults.push(format!("{at}: {name} is not in the schema")),
            }
        }
    }
    if let (Some(items), Some(schema)) = (value.as_array(), schema.get("items")) {
        for (index, item) in items.iter().enumerate() {
            validate(root, schema, item, &format!("{at}/{index}"), faults);
        }
    }
}

fn has_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        _ => false,
    };
    match wanted {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => true,
    }
}

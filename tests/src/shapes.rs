//! Shapes of large inputs: each list and each map of the fixtures, grown to any size. A field that a fixture gets has a shape by
//! itself.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, Ipv6Addr};

use serde_yaml::{Mapping, Value};

use crate::documents;
use crate::program::root;
use crate::yaml::{self, Step};

/// Stands where the items go.
const PLACE: &str = "the-items-go-here";

/// Keys whose values tell one item of a list from another.
const IDENTITIES: &[&str] =
    &["name", "ip", "destination", "ip-from", "ip-to", "next-hop-address", "hostname", "path"];

/// A list or a map of a document, and what it grows by.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its place, as `interfaces[vlan].ipv4.address`.
    pub name: String,
    before: String,
    after: String,
    /// The item, and the key before it in a map.
    key: Option<String>,
    item: Value,
}

/// The shapes of NMState documents.
#[must_use]
pub fn of_documents() -> Vec<Shape> {
    let documents = documents::fixtures().into_iter();
    of(documents.filter_map(|document| serde_yaml::from_str(&document.text).ok()))
}

/// The shapes of a node's account.
///
/// # Errors
/// The fixture is missing, or no JSON.
pub fn of_accounts() -> Result<Vec<Shape>, Box<dyn std::error::Error>> {
    let text = std::fs::read_to_string(root().join("tests/fixtures/collected/canary.json"))?;
    Ok(of(std::iter::once(serde_json::from_str(&text)?)))
}

fn of(documents: impl Iterator<Item = Value>) -> Vec<Shape> {
    let mut shapes = BTreeMap::new();
    for document in documents {
        yaml::walk(&document, &mut Vec::new(), &mut |path, value| {
            let mut add = |key: Option<&str>, item: &Value| {
                let what =
                    key.map_or_else(|| format!("list of {}", kind(item)), |_| "map".to_owned());
                let name = format!("{}: {what}", named(&document, path));
                shapes
                    .entry(name.clone())
                    .or_insert_with(|| shape(name, &document, path, key, item));
            };
            match value {
                Value::Sequence(items) => items.iter().for_each(|item| add(None, item)),
                Value::Mapping(entries) => {
                    entries.iter().take(1).for_each(|(key, item)| add(key.as_str(), item));
                }
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::String(_)
                | Value::Tagged(_) => {}
            }
        });
    }
    shapes.into_values().collect()
}

/// The keys of a path, with the type of each item.
fn named(document: &Value, path: &[Step]) -> String {
    let mut name = String::new();
    for (at, step) in path.iter().enumerate() {
        match step {
            Step::Key(key) if name.is_empty() => name.push_str(key),
            Step::Key(key) => name = format!("{name}.{key}"),
            Step::Index(_) => {
                let kind = yaml::find(document, &path[..=at]).map(kind).unwrap_or_default();
                name = format!("{name}[{kind}]");
            }
        }
    }
    name
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn shape(name: String, document: &Value, path: &[Step], key: Option<&str>, item: &Value) -> Shape {
    let grown = match key {
        None => Value::Sequence(vec![PLACE.into()]),
        Some(_) => {
            let own = yaml::find(document, path).and_then(Value::as_mapping).cloned();
            let mut entries = own.unwrap_or_default();
            entries.insert(PLACE.into(), Value::Null);
            Value::Mapping(entries)
        }
    };
    let whole = yaml::replaced(document, path, grown);
    let text = serde_json::to_string(&whole).unwrap_or_default();
    let place = if key.is_some() { format!("\"{PLACE}\":null") } else { format!("\"{PLACE}\"") };
    let (before, after) = text.split_once(&place).unwrap_or_default();
    Shape {
        name,
        before: before.to_owned(),
        after: after.to_owned(),
        key: key.map(str::to_owned),
        item: item.clone(),
    }
}

impl Shape {
    /// Returns the largest document of at most `bytes`, with one item at least. All items are on one line, or each has its own.
    #[must_use]
    pub fn text(&self, bytes: usize, is_one_line: bool) -> String {
        let mut text = self.before.clone();
        for number in 1_u32.. {
            let separator = match (number, is_one_line) {
                (1, _) => "",
                (_, true) => ",",
                (_, false) => ",\n",
            };
            let key = self.key.as_ref().map(|key| format!("\"{key}-{number}\":"));
            let item = serde_json::to_string(&numbered(&self.item, number)).unwrap_or_default();
            let entry = format!("{separator}{}{item}", key.unwrap_or_default());
            if number > 1 && text.len() + entry.len() + self.after.len() >= bytes {
                break;
            }
            text.push_str(&entry);
        }
        text + &self.after + "\n"
    }
}

/// The item with another identity.
fn numbered(item: &Value, number: u32) -> Value {
    match item {
        Value::String(text) => other(text, number).into(),
        Value::Number(_) => (number % 4094 + 1).into(),
        Value::Mapping(entries) => {
            let entry = |(key, value): (&Value, &Value)| {
                let is_identity = key.as_str().is_some_and(|key| IDENTITIES.contains(&key));
                let value = if is_identity { numbered(value, number) } else { value.clone() };
                (key.clone(), value)
            };
            Value::Mapping(entries.iter().map(entry).collect::<Mapping>())
        }
        Value::Null | Value::Bool(_) | Value::Sequence(_) | Value::Tagged(_) => item.clone(),
    }
}

/// Another text of the same kind.
fn other(text: &str, number: u32) -> String {
    let (address, length) =
        text.split_once('/').map_or((text, None), |(address, rest)| (address, Some(rest)));
    let [_, a, b, c] = number.to_be_bytes();
    let address = if address.parse::<Ipv4Addr>().is_ok() {
        format!("10.{a}.{b}.{c}")
    } else if address.parse::<Ipv6Addr>().is_ok() {
        format!("2001:db8::{:x}:{:x}", number >> 16, number & 0xffff)
    } else {
        return format!("{text}{number}");
    };
    length.map_or(address.clone(), |length| format!("{address}/{length}"))
}

#[cfg(test)]
mod tests {
    use super::of_documents;

    #[test]
    fn shapes_are_documents_of_their_size() -> Result<(), serde_yaml::Error> {
        let shapes = of_documents();
        assert!(shapes.len() > 60, "{}", shapes.len());
        for shape in shapes {
            let text = shape.text(4 << 10, false);
            serde_yaml::from_str::<serde_yaml::Value>(&text)?;
            let most = if text.lines().count() > 1 { 4 << 10 } else { 16 << 10 };
            assert!((2 << 10..=most).contains(&text.len()), "{}: {}", shape.name, text.len());
        }
        Ok(())
    }
}

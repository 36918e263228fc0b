//! NetworkManager's connection settings in plain types: sections of properties, whose values keep
//! their D-Bus type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A value of a property, by its D-Bus type. As JSON it has busctl's form:
/// `{"type": "u", "data": 1500}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub(crate) enum Value {
    #[serde(rename = "b")]
    Bool(bool),
    #[serde(rename = "y")]
    U8(u8),
    #[serde(rename = "q")]
    U16(u16),
    #[serde(rename = "i")]
    I32(i32),
    #[serde(rename = "u")]
    U32(u32),
    #[serde(rename = "x")]
    I64(i64),
    #[serde(rename = "t")]
    U64(u64),
    #[serde(rename = "s")]
    Text(String),
    #[serde(rename = "ay")]
    Bytes(Vec<u8>),
    #[serde(rename = "as")]
    Texts(Vec<String>),
    #[serde(rename = "au")]
    U32s(Vec<u32>),
    #[serde(rename = "aay")]
    ByteArrays(Vec<Vec<u8>>),
    #[serde(rename = "a{ss}")]
    TextMap(BTreeMap<String, String>),
    #[serde(rename = "a{sv}")]
    Record(Record),
    #[serde(rename = "aa{sv}")]
    Records(Vec<Record>),
    /// A type that is not above; its content is not kept.
    #[serde(rename = "unsupported")]
    Unsupported(String),
}

/// Values by name: an entry of `address-data`, `route-data`, `routing-rules`, …
pub(crate) type Record = BTreeMap<String, Value>;

impl Value {
    /// Whether this is empty text, an empty list or an empty map: unset, to NetworkManager.
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Text(text) => text.is_empty(),
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Texts(texts) => texts.is_empty(),
            Self::U32s(numbers) => numbers.is_empty(),
            Self::ByteArrays(arrays) => arrays.is_empty(),
            Self::TextMap(map) => map.is_empty(),
            Self::Record(record) => record.is_empty(),
            Self::Records(records) => records.is_empty(),
            Self::Bool(_)
            | Self::U8(_)
            | Self::U16(_)
            | Self::I32(_)
            | Self::U32(_)
            | Self::I64(_)
            | Self::U64(_)
            | Self::Unsupported(_) => false,
        }
    }

    /// A number of any width.
    pub(crate) fn number(&self) -> Option<i64> {
        #[allow(clippy::wildcard_enum_match_arm, reason = "the others are no numbers")]
        match self {
            Self::U8(number) => Some(i64::from(*number)),
            Self::U16(number) => Some(i64::from(*number)),
            Self::I32(number) => Some(i64::from(*number)),
            Self::U32(number) => Some(i64::from(*number)),
            Self::I64(number) => Some(*number),
            Self::U64(number) => i64::try_from(*number).ok(),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The entries of a list of records.
    pub(crate) fn records(&self) -> &[Record] {
        if let Self::Records(records) = self { records } else { &[] }
    }

    /// The entries of a list of texts.
    pub(crate) fn texts(&self) -> &[String] {
        if let Self::Texts(texts) = self { texts } else { &[] }
    }
}

/// The values that plain types are.
macro_rules! values {
    ($($type:ty => $variant:ident,)+) => {
        $(impl From<$type> for Value {
            fn from(value: $type) -> Self {
                Self::$variant(value.into())
            }
        })+
    };
}

values! {
    bool => Bool,
    i32 => I32,
    u32 => U32,
    i64 => I64,
    &str => Text,
    String => Text,
}

/// The settings of a connection, as in `GetSettings` and `AddConnection2`: `a{sa{sv}}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ConnectionSettings(BTreeMap<String, Record>);

impl ConnectionSettings {
    pub(crate) fn get(&self, section: &str, property: &str) -> Option<&Value> {
        self.0.get(section)?.get(property)
    }

    /// A property that is text; `None` also for empty text, which NetworkManager takes for unset.
    pub(crate) fn text(&self, section: &str, property: &str) -> Option<&str> {
        self.get(section, property)?.text().filter(|text| !text.is_empty())
    }

    /// A property that is a number, of any width.
    pub(crate) fn number(&self, section: &str, property: &str) -> Option<i64> {
        self.get(section, property)?.number()
    }

    /// Whether a property is on; `None` if it is unset.
    pub(crate) fn flag(&self, section: &str, property: &str) -> Option<bool> {
        let Value::Bool(flag) = self.get(section, property)? else { return None };
        Some(*flag)
    }

    pub(crate) fn records(&self, section: &str, property: &str) -> &[Record] {
        self.get(section, property).map(Value::records).unwrap_or_default()
    }

    pub(crate) fn section(&self, name: &str) -> Option<&Record> {
        self.0.get(name)
    }

    pub(crate) fn sections(&self) -> impl Iterator<Item = (&str, &Record)> {
        self.0.iter().map(|(name, section)| (name.as_str(), section))
    }

    pub(crate) fn set(&mut self, section: &str, property: &str, value: impl Into<Value>) {
        self.section_mut(section).insert(property.to_owned(), value.into());
    }

    /// A section to write to; empty if new. An empty section counts: `ovs-bridge` marks a type.
    pub(crate) fn section_mut(&mut self, name: &str) -> &mut Record {
        self.0.entry(name.to_owned()).or_default()
    }

    pub(crate) fn unset(&mut self, section: &str, property: &str) -> Option<Value> {
        self.0.get_mut(section)?.remove(property)
    }

    /// Drops values of an unsupported type, which cannot be written.
    pub(crate) fn drop_unsupported(&mut self) {
        for section in self.0.values_mut() {
            section.retain(|_, value| !matches!(value, Value::Unsupported(_)));
        }
    }

    pub(crate) fn drop_section(&mut self, name: &str) -> Option<Record> {
        self.0.remove(name)
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn a_number_has_any_width() {
        let numbers = [
            Value::U8(5),
            Value::U16(5),
            Value::I32(5),
            Value::U32(5),
            Value::I64(5),
            Value::U64(5),
        ];
        assert!(numbers.iter().all(|number| number.number() == Some(5)));
        assert_eq!((Value::U64(u64::MAX).number(), Value::from("5").number()), (None, None));
    }
}

//! The tree as a serde deserializer, so that nmstate gets exactly what was checked.
//!
//! Plain scalars have the types that `serde_yaml`, the parser of nmstate's tools, gives them; a
//! property test compares the two.

use serde::de::value::{BorrowedStrDeserializer, Error, MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, Error as _, IntoDeserializer, Unexpected, Visitor};
use serde::forward_to_deserialize_any;

use super::scalar::Scalar;
use super::tree::{Entry, Node, Value};

impl<'de> IntoDeserializer<'de, Error> for &'de Node<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for &'de Node<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            Value::Scalar { text, plain: false } => visitor.visit_borrowed_str(text),
            Value::Scalar { text, plain: true } => match Scalar::plain(text) {
                Scalar::Null => visitor.visit_unit(),
                Scalar::Boolean(value) => visitor.visit_bool(value),
                Scalar::Unsigned(value) => match u64::try_from(value) {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => visitor.visit_u128(value),
                },
                Scalar::Negative(value) => match i64::try_from(value) {
                    Ok(value) => visitor.visit_i64(value),
                    Err(_) => visitor.visit_i128(value),
                },
                Scalar::Float(value) => visitor.visit_f64(value),
                Scalar::Text => visitor.visit_borrowed_str(text),
            },
            Value::Sequence(items) => visitor.visit_seq(SeqDeserializer::new(items.iter())),
            Value::Mapping(entries) => visitor.visit_map(map(entries)),
        }
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match &self.value {
            // A profile may be named 100.
            Value::Scalar { text, .. } => visitor.visit_borrowed_str(text),
            Value::Sequence(_) | Value::Mapping(_) => self.deserialize_any(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.is_nothing() {
            true => visitor.visit_seq(SeqDeserializer::new(std::iter::empty::<Self>())),
            false => self.deserialize_any(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.is_nothing() {
            true => visitor.visit_map(map(&[])),
            false => self.deserialize_any(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.deserialize_map(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let unexpected = match &self.value {
            Value::Scalar { text, .. } => {
                return visitor.visit_enum(BorrowedStrDeserializer::new(text));
            }
            Value::Sequence(_) => Unexpected::Seq,
            Value::Mapping(_) => Unexpected::Map,
        };
        Err(Error::invalid_type(unexpected, &"one of the words for this field"))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 bytes byte_buf unit unit_struct tuple
        tuple_struct
    }
}

impl Node<'_> {
    /// `key:` without a value, which also stands for an empty list or mapping.
    fn is_nothing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if text.is_empty())
    }
}

type Pair<'de, 't> = (BorrowedStrDeserializer<'de, Error>, &'de Node<'t>);
type Pairs<'de, 't> =
    std::iter::Map<std::slice::Iter<'de, Entry<'t>>, fn(&'de Entry<'t>) -> Pair<'de, 't>>;

fn map<'de, 't>(entries: &'de [Entry<'t>]) -> MapDeserializer<'de, Pairs<'de, 't>, Error> {
    MapDeserializer::new(entries.iter().map(pair))
}

fn pair<'de, 't>(entry: &'de Entry<'t>) -> Pair<'de, 't> {
    (BorrowedStrDeserializer::new(&entry.key), &entry.node)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    // nmstate deserializes interfaces through this type.
    use crate::text::Source;
    use serde_json::Value;

    /// Compares both parsers; text that is not YAML is skipped.
    fn assert_read_alike(text: &str) -> Result<(), TestCaseError> {
        let source = Source { name: "test".into(), text: text.into() };
        if let Ok(document) = crate::parse(&source) {
            let ours = Option::<Value>::deserialize(&document.root).ok();
            prop_assert_eq!(ours, serde_yaml::from_str::<Option<Value>>(text).ok());
        }
        Ok(())
    }

    fn cases(cases: u32) -> ProptestConfig {
        let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
        ProptestConfig { cases: config.cases.max(cases), ..config }
    }

    const NUMBERS: &str = "[-+]{0,2}(0[xob])?[-+]?[0-9a-f]{0,40}|[-+]?0?[0-9]{0,3}[.]?[0-9]{0,3}([eE][-+]?[0-9]{1,3})?";
    const WORDS: &str = "[-+]?[.]?(inf|Inf|INF|nan|NaN|null|Null|~|True|no|TRUE|y)";
    // Leaves out names of anchors and tags, which the two parsers end at different characters.
    const TEXT: &str = r#"([\PC&&[^&!*]]{1,3}|[\u{85}\u{2028}\u{2029}]|\n {0,4}|- |[a-c]{1,2}:[ \t]?|, |[{}\[\]'"\#|>%?~<\\\t\r]|[ab]|1|0x1|---|\.\.\.|!!str |&a |\*a |''){0,16}"#;

    proptest! {
        #![proptest_config(cases(4_000))]
        #[test]
        fn plain_scalars_are_read_alike(scalar in prop_oneof![NUMBERS, WORDS]) {
            assert_read_alike(&format!("[a, {scalar}]\n"))?;
        }

        #[test]
        fn texts_are_read_alike(text in TEXT) {
            assert_read_alike(&format!("{text}\n"))?;
            assert_read_alike(&text)?;
        }
    }

    #[test]
    fn quoted_scalars_are_text_and_nothing_is_null() {
        let text = "a: '1'\nb:\nc: \"true\"\nd: |\n  5\ne: [1, {f: 2}]\n";
        assert!(assert_read_alike(text).is_ok());
    }

    #[test]
    fn a_block_scalar_may_end_with_the_text() {
        for header in ["|", "|-", "|+", ">", ">-", ">+", "|2"] {
            for content in [
                "", "5", "5 ", "5\n  6", "5\n\n  6", "5\n", "5\n\n", "5\n# c", "5\n  ## ",
                "5\nb: 6",
            ] {
                let text = format!("a: {header}\n  {content}");
                assert!(assert_read_alike(&text).is_ok(), "{text:?}");
            }
        }
    }
}

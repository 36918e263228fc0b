//! The first look at a file from anybody: its version, and how many values it has. It keeps none of them.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

/// The version that the file claims, and the number of its values.
#[derive(Default)]
pub(super) struct BundleForm {
    pub(super) schema: u64,
    pub(super) values: usize,
}

impl<'de> Deserialize<'de> for BundleForm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut form = Self::default();
        deserializer.deserialize_map(Fields(&mut form))?;
        Ok(form)
    }
}

/// The outermost object.
struct Fields<'f>(&'f mut BundleForm);

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a collected node")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match &*key {
                "schema" => self.0.schema = map.next_value()?,
                _ => map.next_value_seed(Counted(&mut self.0.values))?,
            }
        }
        Ok(())
    }
}

/// Any value, with all that it has in it.
struct Counted<'n>(&'n mut usize);

impl<'de> DeserializeSeed<'de> for Counted<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        *self.0 += 1;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Counted<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<(), A::Error> {
        while all.next_element_seed(Counted(self.0))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key::<IgnoredAny>()?.is_some() {
            map.next_value_seed(Counted(self.0))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_at_each_depth() -> Result<(), serde_json::Error> {
        let form: BundleForm = serde_json::from_str(
            r#"{"a": [0, -1, 1.5, "x", null, true], "schema": 7, "b": {"c": [[]], "d": {}}}"#,
        )?;
        assert_eq!((form.schema, form.values), (7, 7 + 4));
        assert!(serde_json::from_str::<BundleForm>("[]").is_err());
        Ok(())
    }
}

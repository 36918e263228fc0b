//! Connection settings from D-Bus values and to them.

use std::collections::HashMap;

use zbus::zvariant::{self, Array, OwnedValue};

use super::{
    bus::{Result, call},
    proxies::Settings,
};
use crate::model::connection::{ConnectionSettings, Record, Value};

/// Properties that NetworkManager reports in two spellings, the newer one second.
const OLDER: [(&str, &str); 7] = [
    ("addresses", "address-data"),
    ("routes", "route-data"),
    ("dns", "dns-data"),
    ("cloned-mac-address", "assigned-mac-address"),
    ("master", "controller"),
    ("slave-type", "port-type"),
    ("autoconnect-slaves", "autoconnect-ports"),
];

/// NetworkManager's settings in plain types.
pub(super) fn from_wire(settings: &Settings) -> ConnectionSettings {
    let mut plain = ConnectionSettings::default();
    for (name, properties) in settings {
        let section = plain.section_mut(name);
        let has_newer = |key: &str| {
            OLDER.iter().any(|(older, newer)| *older == key && properties.contains_key(*newer))
        };
        let newest = properties.iter().filter(|(key, _)| !has_newer(key));
        section.extend(newest.map(|(key, value)| (key.clone(), read(value))));
    }
    plain
}

fn read(value: &zvariant::Value<'_>) -> Value {
    use zvariant::Value as Wire;
    let unsupported = || Value::Unsupported(value.value_signature().to_string());
    #[allow(clippy::wildcard_enum_match_arm, reason = "all others are unsupported")]
    match value {
        Wire::Bool(flag) => Value::Bool(*flag),
        Wire::U8(number) => Value::U8(*number),
        Wire::U16(number) => Value::U16(*number),
        Wire::I32(number) => Value::I32(*number),
        Wire::U32(number) => Value::U32(*number),
        Wire::I64(number) => Value::I64(*number),
        Wire::U64(number) => Value::U64(*number),
        Wire::Str(text) => Value::Text(text.to_string()),
        Wire::Value(inner) => read(inner),
        Wire::Array(array) => read_array(array).unwrap_or_else(unsupported),
        Wire::Dict(_) => read_map(value).unwrap_or_else(unsupported),
        _ => unsupported(),
    }
}

fn read_array(array: &Array<'_>) -> Option<Value> {
    let items = || array.iter();
    Some(match array.element_signature().to_string().as_str() {
        "y" => Value::Bytes(bytes(array)?),
        "s" => Value::Texts(
            items().map(|item| Some(read(item).text()?.to_owned())).collect::<Option<_>>()?,
        ),
        "u" => Value::U32s(
            items().map(|item| u32::try_from(read(item).number()?).ok()).collect::<Option<_>>()?,
        ),
        "ay" => {
            let inner = |item: &zvariant::Value<'_>| {
                if let zvariant::Value::Array(inner) = item { bytes(inner) } else { None }
            };
            Value::ByteArrays(items().map(inner).collect::<Option<_>>()?)
        }
        "a{sv}" => Value::Records(items().map(record).collect::<Option<_>>()?),
        _ => return None,
    })
}

fn bytes(array: &Array<'_>) -> Option<Vec<u8>> {
    array.iter().map(|item| u8::try_from(item).ok()).collect()
}

/// `a{ss}` and `a{sv}`.
fn read_map(value: &zvariant::Value<'_>) -> Option<Value> {
    match value.value_signature().to_string().as_str() {
        "a{ss}" => {
            let texts = record(value)?.into_iter();
            let text = |(key, value): (String, Value)| Some((key, value.text()?.to_owned()));
            Some(Value::TextMap(texts.map(text).collect::<Option<_>>()?))
        }
        "a{sv}" => Some(Value::Record(record(value)?)),
        _ => None,
    }
}

fn record(value: &zvariant::Value<'_>) -> Option<Record> {
    let zvariant::Value::Dict(dict) = value else { return None };
    dict.iter().map(|(key, value)| Some((read(key).text()?.to_owned(), read(value)))).collect()
}

/// The settings as `AddConnection2` takes them.
pub(crate) fn to_dbus(settings: &ConnectionSettings) -> Result<Settings> {
    let section = |record: &Record| -> Result<_, zvariant::Error> {
        let known = record.iter().filter_map(|(name, value)| Some((name, variant(value)?)));
        known.map(|(name, value)| Ok((name.clone(), OwnedValue::try_from(value)?))).collect()
    };
    settings
        .sections()
        .map(|(name, record)| Ok((name.to_owned(), section(record)?)))
        .collect::<Result<_, zvariant::Error>>()
        .map_err(|error| call("a profile's settings")(error.into()))
}

fn variant(value: &Value) -> Option<zvariant::Value<'static>> {
    let record = |entries: &Record| {
        let known =
            entries.iter().filter_map(|(name, value)| Some((name.clone(), variant(value)?)));
        known.collect::<HashMap<String, zvariant::Value<'static>>>()
    };
    Some(match value {
        Value::Bool(value) => (*value).into(),
        Value::U8(value) => (*value).into(),
        Value::U16(value) => (*value).into(),
        Value::I32(value) => (*value).into(),
        Value::U32(value) => (*value).into(),
        Value::I64(value) => (*value).into(),
        Value::U64(value) => (*value).into(),
        Value::Text(value) => value.clone().into(),
        Value::Bytes(value) => value.clone().into(),
        Value::Texts(value) => value.clone().into(),
        Value::U32s(value) => value.clone().into(),
        Value::ByteArrays(value) => value.clone().into(),
        Value::TextMap(value) => value.clone().into_iter().collect::<HashMap<_, _>>().into(),
        Value::Record(value) => record(value).into(),
        Value::Records(value) => value.iter().map(record).collect::<Vec<_>>().into(),
        Value::Unsupported(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use zbus::zvariant::{OwnedValue, Value as Wire};

    use super::from_wire;
    use crate::model::connection::Value;

    fn read(properties: Vec<(&str, Wire<'static>)>) -> crate::model::connection::Record {
        let owned = |(key, value): (&str, Wire<'static>)| {
            (key.to_owned(), OwnedValue::try_from(value).expect("a value without descriptors"))
        };
        let section: HashMap<String, OwnedValue> = properties.into_iter().map(owned).collect();
        let settings = from_wire(&HashMap::from([("section".to_owned(), section)]));
        settings.section("section").cloned().expect("the section")
    }

    fn one(value: impl Into<Wire<'static>>) -> Value {
        read(vec![("property", value.into())]).remove("property").expect("the property")
    }

    #[test]
    fn every_type_of_networkmanagers_settings() {
        assert_eq!(one(true), Value::Bool(true));
        assert_eq!(one(7_u8), Value::U8(7));
        assert_eq!(one(7_u16), Value::U16(7));
        assert_eq!(one(-7_i32), Value::I32(-7));
        assert_eq!(one(7_u32), Value::U32(7));
        assert_eq!(one(-7_i64), Value::I64(-7));
        assert_eq!(one(7_u64), Value::U64(7));
        assert_eq!(one("text"), Value::Text("text".into()));
        assert_eq!(one(vec![1_u8, 2]), Value::Bytes(vec![1, 2]));
        assert_eq!(one(vec!["a", "b"]), Value::Texts(vec!["a".into(), "b".into()]));
        assert_eq!(one(Vec::<String>::new()), Value::Texts(Vec::new()));
        assert_eq!(one(vec![1_u32]), Value::U32s(vec![1]));
        assert_eq!(one(vec![vec![1_u8]]), Value::ByteArrays(vec![vec![1]]));
        let texts = HashMap::from([("mode", "802.3ad")]);
        assert_eq!(one(texts), Value::TextMap([("mode".into(), "802.3ad".into())].into()));
        let record = || HashMap::from([("prefix", Wire::from(24_u32))]);
        let plain = || [("prefix".to_owned(), Value::U32(24))].into();
        assert_eq!(one(record()), Value::Record(plain()));
        assert_eq!(one(vec![record()]), Value::Records(vec![plain()]));
    }

    #[test]
    fn other_types_keep_their_signature() {
        assert_eq!(one(vec![vec![1_u32]]), Value::Unsupported("aau".into()));
        assert_eq!(one((1_u32, "text")), Value::Unsupported("(us)".into()));
    }

    #[test]
    fn older_spellings_count_only_without_the_newer_one() {
        let old = || ("addresses", Wire::from(vec![vec![1_u32, 24, 0]]));
        let new = ("address-data", Wire::from(Vec::<HashMap<String, Wire<'static>>>::new()));
        assert_eq!(read(vec![old(), new]).keys().collect::<Vec<_>>(), ["address-data"]);
        assert_eq!(read(vec![old()]).keys().collect::<Vec<_>>(), ["addresses"]);
    }
}

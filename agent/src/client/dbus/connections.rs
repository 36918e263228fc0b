//! All profiles with their settings, in plain types.

use std::collections::HashMap;

use futures_util::future::try_join_all;
use zbus::zvariant::{self, Array, OwnedObjectPath, OwnedValue};

use super::{Bus, BusError, call};
use crate::connection::{ConnectionSettings, Record, Value};

/// `NM_SETTINGS_CONNECTION_FLAG_EXTERNAL`: generated for a device that another program configured.
const EXTERNAL: u32 = 0x08;

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

/// A profile with its settings, without secrets.
#[derive(Clone, Debug)]
pub(crate) struct Connection {
    /// Path of its object.
    pub(crate) path: String,
    /// `NM_SETTINGS_CONNECTION_FLAGS`.
    pub(crate) flags: u32,
    pub(crate) settings: ConnectionSettings,
}

impl Connection {
    /// Whether the profile only describes what another program configured.
    pub(crate) fn is_external(&self) -> bool {
        self.flags & EXTERNAL != 0
    }
}

impl Bus {
    /// All profiles with their settings.
    pub(crate) async fn connections(&self) -> Result<Vec<Connection>, BusError> {
        let query = || call("the list of profiles");
        let paths = self.settings.list_connections().await.map_err(query())?;
        let one = async |path: OwnedObjectPath| -> Result<Option<Connection>, BusError> {
            let proxy = self.profile_proxy(path.as_str()).await?;
            // Skip an object that goes away meanwhile.
            let Ok((settings, flags)) = tokio::try_join!(proxy.get_settings(), proxy.flags())
            else {
                return Ok(None);
            };
            Ok(Some(Connection { path: path.to_string(), flags, settings: from_wire(&settings) }))
        };
        let all = try_join_all(paths.into_iter().map(one)).await?;
        Ok(all.into_iter().flatten().collect())
    }
}

/// NetworkManager's settings in plain types.
fn from_wire(settings: &HashMap<String, HashMap<String, OwnedValue>>) -> ConnectionSettings {
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
            items().map(|it| Some(read(it).text()?.to_owned())).collect::<Option<_>>()?,
        ),
        "u" => {
            let number = |it: &zvariant::Value<'_>| u32::try_from(read(it).number()?).ok();
            Value::U32s(items().map(number).collect::<Option<_>>()?)
        }
        "ay" => {
            let inner = |it: &zvariant::Value<'_>| {
                if let zvariant::Value::Array(inner) = it { bytes(inner) } else { None }
            };
            Value::ByteArrays(items().map(inner).collect::<Option<_>>()?)
        }
        "a{sv}" => Value::Records(items().map(record).collect::<Option<_>>()?),
        _ => return None,
    })
}

fn bytes(array: &Array<'_>) -> Option<Vec<u8>> {
    let byte = |it: &zvariant::Value<'_>| u8::try_from(it).ok();
    array.iter().map(byte).collect()
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
    let entry = |(key, value): (&zvariant::Value<'_>, &zvariant::Value<'_>)| {
        Some((read(key).text()?.to_owned(), read(value)))
    };
    dict.iter().map(entry).collect()
}

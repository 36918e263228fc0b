//! Connection settings to D-Bus values.

use zbus::zvariant::{OwnedValue, Value as Variant};

use super::{
    bus::{BusError, call},
    profiles::Settings,
};
use crate::connection::{ConnectionSettings, Record, Value};

/// The settings as `AddConnection2` takes them.
pub(crate) fn to_dbus(settings: &ConnectionSettings) -> Result<Settings, BusError> {
    let section = |record: &Record| -> Result<_, zbus::zvariant::Error> {
        let known = record.iter().filter_map(|(name, value)| Some((name, variant(value)?)));
        known.map(|(name, value)| Ok((name.clone(), OwnedValue::try_from(value)?))).collect()
    };
    settings
        .sections()
        .map(|(name, record)| Ok((name.to_owned(), section(record)?)))
        .collect::<Result<_, zbus::zvariant::Error>>()
        .map_err(|error| call("a profile's settings")(error.into()))
}

fn variant(value: &Value) -> Option<Variant<'static>> {
    let record = |it: &Record| {
        let known = it.iter().filter_map(|(name, value)| Some((name.clone(), variant(value)?)));
        known.collect::<std::collections::HashMap<String, Variant<'static>>>()
    };
    Some(match value {
        Value::Bool(it) => (*it).into(),
        Value::U8(it) => (*it).into(),
        Value::U16(it) => (*it).into(),
        Value::I32(it) => (*it).into(),
        Value::U32(it) => (*it).into(),
        Value::I64(it) => (*it).into(),
        Value::U64(it) => (*it).into(),
        Value::Text(it) => it.clone().into(),
        Value::Bytes(it) => it.clone().into(),
        Value::Texts(it) => it.clone().into(),
        Value::U32s(it) => it.clone().into(),
        Value::ByteArrays(it) => it.clone().into(),
        Value::TextMap(it) => {
            it.clone().into_iter().collect::<std::collections::HashMap<_, _>>().into()
        }
        Value::Record(it) => record(it).into(),
        Value::Records(it) => it.iter().map(record).collect::<Vec<_>>().into(),
        Value::Unsupported(_) => return None,
    })
}

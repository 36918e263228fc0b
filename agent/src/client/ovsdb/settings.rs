//! Settings of Open vSwitch itself in the JSON of RFC 7047, where a map is `["map", [[key, value], …]]`.

use serde_json::{Value, json};

use crate::model::{OvsKey, OvsSetting, Row};

/// The values of these keys, each once.
pub(super) fn of(row: &Row, keys: &[OvsKey]) -> Vec<OvsSetting> {
    let mut found: Vec<OvsSetting> = Vec::new();
    for OvsKey { map, key } in keys {
        let pairs = row.get(map.column()).and_then(|it| it.get(1)).and_then(Value::as_array);
        let pairs = pairs.into_iter().flatten();
        let mut pairs =
            pairs.filter_map(|pair| Some((pair.get(0)?.as_str()?, pair.get(1)?.as_str()?)));
        let setting = |key: &str, value: Option<&str>| OvsSetting {
            map: *map,
            key: key.to_owned(),
            value: value.map(str::to_owned),
        };
        let settings: Vec<OvsSetting> = match key {
            None => pairs.map(|(key, value)| setting(key, Some(value))).collect(),
            Some(key) => {
                let value = pairs.find(|(name, _)| name == key).map(|(_, value)| value);
                vec![setting(key, value)]
            }
        };
        for setting in settings {
            if !found.iter().any(|it| it.map == setting.map && it.key == setting.key) {
                found.push(setting);
            }
        }
    }
    found
}

/// Mutations that give a key its value back, or remove it.
pub(super) fn mutations(setting: &OvsSetting) -> Vec<Value> {
    let OvsSetting { map, key, value } = setting;
    let column = map.column();
    let removed = json!([column, "delete", ["set", [key]]]);
    let set = value.as_ref().map(|value| json!([column, "insert", ["map", [[key, value]]]]));
    [Some(removed), set].into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::OvsMap::{ExternalIds, OtherConfig};

    #[test]
    fn keys_come_back_with_their_values_or_go() {
        let row = json!({
            "external_ids": ["map", [["system-id", "a"], ["ovn-encap-ip", "192.0.2.10"]]],
            "other_config": ["map", []],
        });
        let row = row.as_object().cloned().unwrap_or_default();
        let key = |map, key: Option<&str>| OvsKey { map, key: key.map(str::to_owned) };
        let keys =
            [key(OtherConfig, Some("dpdk-init")), key(ExternalIds, None), key(OtherConfig, None)];
        let found = of(&row, &keys);
        let shown: Vec<_> = found.iter().map(|it| (&*it.key, it.value.as_deref())).collect();
        let expected =
            [("dpdk-init", None), ("system-id", Some("a")), ("ovn-encap-ip", Some("192.0.2.10"))];
        assert_eq!(shown, expected);
        assert_eq!(
            mutations(&found[0]),
            [json!(["other_config", "delete", ["set", ["dpdk-init"]]])]
        );
        assert_eq!(
            mutations(&found[1])[1],
            json!(["external_ids", "insert", ["map", [["system-id", "a"]]]])
        );
    }
}

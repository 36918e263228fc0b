//! Settings of Open vSwitch itself in the JSON of RFC 7047.

use serde_json::{Value, json};

use crate::model::{OvsKey, OvsSetting, Row, column_map};

pub(super) fn of(row: &Row, keys: &[OvsKey]) -> Vec<OvsSetting> {
    let of_key = |OvsKey { map, key }: &OvsKey| -> Vec<OvsSetting> {
        let pairs = || column_map(row, map.column());
        let setting = |key: &str, value: Option<&str>| OvsSetting {
            map: *map,
            key: key.to_owned(),
            value: value.map(str::to_owned),
        };
        match key {
            None => pairs().map(|(key, value)| setting(key, Some(value))).collect(),
            Some(key) => {
                let value = pairs().find(|(name, _)| name == key).map(|(_, value)| value);
                vec![setting(key, value)]
            }
        }
    };
    keys.iter().flat_map(of_key).collect()
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
        let shown: Vec<_> =
            found.iter().map(|setting| (&*setting.key, setting.value.as_deref())).collect();
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

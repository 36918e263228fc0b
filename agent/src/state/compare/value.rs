//! Values compared as nmstate's verification does: keys missing in the document match any value.

use serde_json::Value;

/// nmstate's placeholder for a secret.
const HIDDEN: &str = "<_password_hid_by_nmstate>";

/// Whether `have` has all of `want`. Lists must have the same length; their order is free.
pub(super) fn holds(want: &Value, have: &Value) -> bool {
    match (want, have) {
        (Value::Null, _) => true,
        (Value::String(want), _) if want == HIDDEN => true,
        (Value::Object(want), Value::Object(have)) => {
            want.iter().all(|(key, want)| holds(want, have.get(key).unwrap_or(&Value::Null)))
        }
        (Value::Array(want), Value::Array(have)) => {
            let mut rest: Vec<&Value> = have.iter().collect();
            want.len() == have.len()
                && want.iter().all(|want| {
                    let place = rest.iter().position(|have| holds(want, have));
                    place.map(|place| rest.remove(place)).is_some()
                })
        }
        (want, have) => want == have,
    }
}

/// Removes keys missing in `declared` from `want`: nmstate adds keys before it applies.
pub(super) fn only_declared(want: &mut Value, declared: &Value) {
    if let (Value::Object(want), Value::Object(declared)) = (want, declared) {
        want.retain(|key, _| declared.contains_key(key));
        for (key, want) in want {
            only_declared(want, &declared[key]);
        }
    }
}

/// Sets `key` of an object if it has none.
pub(super) fn default(object: &mut Value, key: &str, value: Value) {
    if let Value::Object(object) = object
        && object.get(key).is_none_or(Value::is_null)
    {
        object.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{holds, only_declared};

    #[test]
    fn lists_hold_in_any_order_and_only_in_full() {
        assert!(holds(&json!([{"a": 1}, {"b": 2}]), &json!([{"b": 2, "c": 3}, {"a": 1}])));
        assert!(!holds(&json!([1]), &json!([1, 2])));
        assert!(!holds(&json!([1, 1]), &json!([1, 2])));
    }

    #[test]
    fn keys_that_the_document_has_not_are_not_compared() {
        let mut want = json!({"mtu": 1500, "ipv4": {"enabled": true, "dhcp": false}});
        only_declared(&mut want, &json!({"ipv4": {"enabled": true}}));
        assert_eq!(want, json!({"ipv4": {"enabled": true}}));
    }

    #[test]
    fn what_is_not_said_holds() {
        assert!(holds(&json!({"a": null}), &json!({})));
        assert!(!holds(&json!({"a": 1}), &json!({})));
        assert!(holds(&json!("<_password_hid_by_nmstate>"), &json!("secret")));
    }
}

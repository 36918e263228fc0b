//! Both sides of a difference: the fields that a state lacks, beside those that it has in their place.

use nmgen::{Reading, difference::Difference, source::Source};
use serde_json::{Map, Value};

use super::{Result, State, StateError, unreadable};

impl State {
    /// The fields in which `before` differs from `after`, as far as this partial state names them. Secrets differ without their
    /// values.
    pub(crate) fn sides(&self, before: &Self, after: &Self) -> Result<Vec<Difference>> {
        let named = value(self)?;
        let [before, after] =
            [value(before)?, value(after)?].map(|value| restricted(&value, &named));
        let [before, after] = [before, after].map(|side| Source {
            name: "state".into(),
            text: side.unwrap_or_else(|| Map::new().into()).to_string().into(),
        });
        let parse = |source| Reading::parse(source).map_err(unreadable);
        Ok(parse(&before)?.differences(&parse(&after)?))
    }

    /// The fields that `current` has in place of those of this partial state.
    pub(crate) fn beside(&self, current: &Self) -> Result<Vec<Difference>> {
        self.sides(current, self)
    }
}

fn value(state: &State) -> Result<Value> {
    let encode = |source| StateError::Encode { source };
    let yaml = serde_yaml::to_value(&state.0).map_err(encode)?;
    serde_yaml::from_value(yaml).map_err(encode)
}

/// The part of `have` that `named` names: keys of mappings, and items of lists of the same name, address or destination. A list
/// of which no item is the same stays, so that both sides are seen.
fn restricted(have: &Value, named: &Value) -> Option<Value> {
    match (have, named) {
        (Value::Object(have), Value::Object(named)) => {
            let keys = named.iter();
            let keys =
                keys.filter_map(|(key, named)| Some((key, restricted(have.get(key)?, named)?)));
            Some(Value::Object(keys.map(|(key, value)| (key.clone(), value)).collect()))
        }
        (Value::Array(have), Value::Array(named)) => {
            let of = |item: &Value| {
                let like = named.iter().find(|named| is_same(item, named))?;
                restricted(item, like)
            };
            let same: Vec<Value> = have.iter().filter_map(of).collect();
            let first = named.first().filter(|_| same.is_empty());
            let others = first
                .into_iter()
                .flat_map(|like| have.iter().filter_map(|value| restricted(value, like)));
            let is_interface = named.iter().any(|item| item.get("type").is_some());
            let others: Vec<Value> = if is_interface { Vec::new() } else { others.collect() };
            Some(Value::Array(if same.is_empty() { others } else { same }))
        }
        _ => Some(have.clone()),
    }
}

/// Whether two items of a list are about the same thing.
fn is_same(item: &Value, named: &Value) -> bool {
    let keys = ["name", "type", "ip", "destination", "next-hop-interface", "priority"];
    let both = keys.iter().filter(|key| item.get(**key).is_some() && named.get(**key).is_some());
    let both: Vec<_> = both.collect();
    if both.is_empty() { item == named } else { both.iter().all(|key| item[**key] == named[**key]) }
}

#[cfg(test)]
mod tests {
    use nmstate::NetworkState;

    use super::State;

    fn sides(current: &str, lacking: &str) -> Result<Vec<String>, Box<dyn std::error::Error>> {
        let state = |text| NetworkState::new_from_yaml(text).map(State);
        let found = state(lacking)?.beside(&state(current)?)?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn each_field_has_the_value_of_now_and_the_wanted_one() -> Result<(), Box<dyn std::error::Error>>
    {
        let interface = |more: &str| {
            format!("interfaces: [{{name: br-ex, type: ovs-interface, state: up, {more}}}]\n")
        };
        let ip = |address: &str| {
            format!("ipv4: {{enabled: true, address: [{{ip: {address}, prefix-length: 24}}]}}")
        };
        let route = |gateway: &str| {
            format!(
                "routes: {{config: [{{destination: 0.0.0.0/0, next-hop-interface: br-ex, next-hop-address: {gateway}}}, \
                 {{destination: 203.0.113.0/24, next-hop-interface: br-ex, next-hop-address: 192.0.2.9}}]}}"
            )
        };
        let lacking = "routes: {config: [{destination: 0.0.0.0/0, next-hop-interface: br-ex, next-hop-address: 192.0.2.1}]}";
        for (current, lacking, expected) in [
            (
                interface("mtu: 1500, description: other"),
                interface("mtu: 9000"),
                vec!["~ interfaces[br-ex].mtu: 1500 -> 9000"],
            ),
            (
                interface(&ip("192.0.2.77")),
                interface(&ip("192.0.2.10")),
                vec![
                    "- interfaces[br-ex].ipv4.address: {ip: 192.0.2.77, prefix-length: 24}",
                    "+ interfaces[br-ex].ipv4.address: {ip: 192.0.2.10, prefix-length: 24}",
                ],
            ),
            (
                route("192.0.2.254"),
                lacking.to_owned(),
                vec![
                    "- routes.config: {destination: 0.0.0.0/0, next-hop-interface: br-ex, next-hop-address: 192.0.2.254}",
                    "+ routes.config: {destination: 0.0.0.0/0, next-hop-interface: br-ex, next-hop-address: 192.0.2.1}",
                ],
            ),
            (
                String::new(),
                "interfaces: [{name: eth9, type: dummy, state: up}]".to_owned(),
                vec!["+ interfaces: {name: eth9, type: dummy, state: up}"],
            ),
        ] {
            assert_eq!(sides(&current, &lacking)?, expected);
        }
        Ok(())
    }
}

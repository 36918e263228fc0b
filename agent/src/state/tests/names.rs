//! Names and addresses that a document takes from the node.

use super::{Result, state};
use crate::model::LinkRef;

/// Kernel names by MAC address, and by one alternative name.
fn kernel_name(wanted: &LinkRef) -> Option<String> {
    let is_known = match wanted {
        LinkRef::Mac(mac) => mac.to_string() == "52:54:00:00:00:01",
        LinkRef::Name(name) => name == "enp1s0",
        LinkRef::Pci(address) => address == "0000:18:00.0",
    };
    is_known.then(|| "ens3".to_owned())
}

/// The document as it is applied on the node.
fn resolved(text: &str) -> Result<serde_json::Value> {
    let resolved = state(text)?.with_links(kernel_name, |_| None);
    Ok(serde_json::to_value(&resolved.0)?)
}

/// A card called `uplink`, with this key besides, and routes through it and through another link.
fn card(more: &str) -> String {
    format!(
        "\
interfaces:
- {{name: uplink, type: ethernet, state: up, mac-address: '52:54:00:00:00:01'{more}}}
routes:
  config:
  - {{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: uplink}}
  - {{destination: 198.51.100.0/24, next-hop-address: 192.0.2.2, next-hop-interface: other}}
"
    )
}

#[test]
fn a_card_by_its_mac_address_gets_the_kernels_name_and_its_routes_too() -> Result {
    let state = resolved(&card(", identifier: mac-address"))?;
    assert_eq!(state["interfaces"][0]["name"], "ens3");
    assert_eq!(state["interfaces"][0]["profile-name"], "uplink");
    let routes = &state["routes"]["config"];
    let through: Vec<_> = [0, 1].map(|i| routes[i]["next-hop-interface"].clone()).into();
    assert!(through.contains(&"ens3".into()) && through.contains(&"other".into()), "{routes}");
    Ok(())
}

#[test]
fn every_other_interface_keeps_its_name() -> Result {
    for text in [
        card(""),
        card(", identifier: name"),
        card(", identifier: mac-address, profile-name: mine"),
        card(", identifier: mac-address").replace("state: up", "state: absent"),
        card(", identifier: mac-address").replace("type: ethernet", "type: dummy"),
        // No link has the address: nmstate judges.
        card(", identifier: mac-address").replace("00:01", "00:09"),
    ] {
        let state = resolved(&text)?;
        assert_eq!(state["interfaces"][0]["name"], "uplink", "{text}");
        assert_eq!(state["routes"]["config"][0]["next-hop-interface"], "uplink", "{text}");
    }
    Ok(())
}

#[test]
fn a_document_in_force_keeps_the_names_and_addresses_that_it_was_applied_with() -> Result {
    let document = "\
interfaces:
- {name: uplink, type: ethernet, state: up, identifier: mac-address, mac-address: '52:54:00:00:00:01'}
- {name: bond0, type: bond, state: up, copy-mac-from: eno9}
- {name: bond1, type: bond, state: up, mac-address: '52:54:00:00:00:07'}
";
    let applied = "\
interfaces:
- {name: ens9, type: ethernet, state: up, permanent-mac-address: '52:54:00:00:00:02', mac-address: '52:54:00:00:00:01'}
- {name: ens3, type: ethernet, state: up, permanent-mac-address: '52:54:00:00:00:01', mac-address: '52:54:00:00:00:05'}
- {name: bond0, type: bond, state: up, mac-address: '52:54:00:00:00:03'}
- {name: bond1, type: bond, state: up, mac-address: '52:54:00:00:00:08'}
";
    let state = state(document)?.with_links_of(&state(applied)?);
    let value = serde_json::to_value(&state.0)?;
    let of = |name: &str| {
        let interfaces = value["interfaces"].as_array().into_iter().flatten();
        interfaces
            .into_iter()
            .find(|interface| interface["name"] == name)
            .cloned()
            .unwrap_or_default()
    };
    // By the permanent address; the other card only has the same one at present.
    assert_eq!(of("ens3")["profile-name"], "uplink", "{value}");
    assert_eq!(of("bond0")["mac-address"], "52:54:00:00:00:03", "{value}");
    assert_eq!(of("bond0").get("copy-mac-from"), None, "{value}");
    assert_eq!(of("bond1")["mac-address"], "52:54:00:00:00:07", "it says its own: {value}");
    Ok(())
}

#[test]
fn a_card_that_is_known_by_its_address_has_its_name_of_now() -> Result {
    let now = |wanted: &LinkRef| kernel_name(wanted).map(|_| "enp9s0".to_owned());
    let document = card(", identifier: mac-address");
    let in_force = state(&document)?.with_links(kernel_name, |_| None);
    let value = serde_json::to_value(&in_force.with_names_of_now(now).0)?;
    assert_eq!(value["interfaces"][0]["name"], "enp9s0");
    assert_eq!(value["interfaces"][0]["profile-name"], "uplink");
    let routes = value["routes"]["config"].to_string();
    assert!(routes.contains("\"enp9s0\"") && routes.contains("\"other\""), "{routes}");
    assert!(!routes.contains("\"ens3\""), "{routes}");
    // A document that names its card means that name.
    for text in [card(""), card(", identifier: name")] {
        let in_force = state(&text)?.with_links(kernel_name, |_| None).with_names_of_now(now);
        let value = serde_json::to_value(&in_force.0)?;
        assert_eq!(value["interfaces"][0]["name"], "uplink", "{text}");
    }
    Ok(())
}

const ALTERNATIVE: &str = "\
interfaces:
- {name: enp1s0, type: ethernet, state: up, ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}
- {name: enp1s0.7, type: vlan, state: up, vlan: {base-iface: enp1s0, id: 7}}
routes:
  config:
  - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: enp1s0}
";

#[test]
fn an_alternative_name_stands_for_the_kernels() -> Result {
    let current = |alternative: &str| {
        state(&format!(
            "interfaces:\n\
             - {{name: ens3, type: ethernet, state: up, profile-name: enp1s0, alt-names: [{{name: {alternative}}}],\n    \
             ipv4: {{enabled: true, address: [{{ip: 192.0.2.10, prefix-length: 24}}]}}}}\n\
             - {{name: enp1s0.7, type: vlan, state: up, vlan: {{base-iface: ens3, id: 7, protocol: 802.1q}}}}\n\
             routes:\n  running: &routes\n  \
             - {{destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: ens3, table-id: 254}}\n  config: *routes\n"
        ))
    };
    let resolved = state(ALTERNATIVE)?.with_links(kernel_name, |_| None);
    let value = serde_json::to_value(&resolved.0)?;
    let card = value["interfaces"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|interface| interface["name"] == "ens3");
    assert_eq!(card.ok_or("the card's name stayed")?["profile-name"], "enp1s0");
    assert_eq!(value["routes"]["config"][0]["next-hop-interface"], "ens3");
    // As it is applied, as it is read later, and as it stands in the document.
    for desired in
        [resolved.clone(), state(ALTERNATIVE)?.with_links_of(&resolved), state(ALTERNATIVE)?]
    {
        let missing = desired.missing_in(&current("enp1s0")?)?;
        assert!(missing.is_none(), "{:?}", missing.map(|missing| missing.to_yaml()));
    }
    assert!(state(ALTERNATIVE)?.missing_in(&current("eno1")?)?.is_some());
    // The document before, as another tool has applied it, has the card's other name.
    let replaced = serde_json::to_value(&resolved.replacing(&state(ALTERNATIVE)?, &[]).0)?;
    assert!(!replaced.to_string().contains("absent"), "{replaced}");
    // nmstate refuses both names of one card.
    let both = ALTERNATIVE
        .replace("interfaces:\n", "interfaces:\n- {name: ens3, type: ethernet, state: up}\n");
    let value = serde_json::to_value(&state(&both)?.with_links(kernel_name, |_| None).0)?;
    assert!(value.to_string().contains(r#""name":"enp1s0""#), "{value}");
    Ok(())
}

/// The boot has found the card by the same address.
#[test]
fn a_card_by_its_pci_address_has_the_kernels_name() -> Result {
    let document = "\
interfaces:
- {name: port0, type: ethernet, state: up, identifier: pci-address, pci-address: '18:00.0', ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}
- {name: port0.7, type: vlan, state: up, vlan: {base-iface: port0, id: 7}}
";
    let current = state(
        "interfaces:
- {name: ens3, type: ethernet, state: up, profile-name: port0, identifier: pci-address, pci-address: '0000:18:00.0', ipv4: {enabled: true, address: [{ip: 192.0.2.10, prefix-length: 24}]}}
- {name: port0.7, type: vlan, state: up, vlan: {base-iface: ens3, id: 7, protocol: 802.1q}}
",
    )?;
    let wants = state(document)?.wants();
    assert_eq!(wants.needed, [LinkRef::Pci("0000:18:00.0".to_owned())]);
    let resolved = state(document)?.with_links(kernel_name, |_| None);
    assert_eq!(resolved.wants().addresses[0].link, "ens3");
    assert!(resolved.wants().addressable.contains(&LinkRef::Pci("0000:18:00.0".to_owned())));
    // One that is to go is no live card.
    let gone = document.replace("state: up, identifier", "state: absent, identifier");
    let gone = serde_json::to_value(&state(&gone)?.with_links(kernel_name, |_| None).0)?;
    assert!(!gone.to_string().contains("ens3"), "{gone}");
    for desired in [resolved.clone(), state(document)?.with_links_of(&resolved), state(document)?] {
        let missing = desired.missing_in(&current)?;
        assert!(missing.is_none(), "{:?}", missing.map(|missing| missing.to_yaml()));
    }
    Ok(())
}

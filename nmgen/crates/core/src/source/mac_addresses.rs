//! MAC addresses that a source gives beside the document, written into it: `nmgen boot` finds the cards
//! by them.

use nmgen_document::text::Span;
use nmgen_document::{Document, Entry, Node, Path, Value};

use super::host::Host;
use crate::stack;

impl Host {
    /// The document, with the source's MAC addresses added to interfaces without one, and cards of the source that the
    /// document only refers to declared.
    pub fn with_mac_addresses(&self) -> Option<Document<'static>> {
        let document = self.document()?;
        let undeclared = stack::undeclared(&document.root);
        let list = Path::default().key("interfaces");
        let mut root = document.root.clone();
        let mut is_changed = false;
        for nic in &self.nics {
            let Some(name) = &nic.name else { continue };
            let address = nic.mac_address.to_string();
            if let Some((index, node)) = document.interface(name) {
                // An empty one counts as none.
                if node.get("mac-address").is_some_and(|node| node.text() != Some("")) {
                    continue;
                }
                if let Some(Node { value: Value::Mapping(entries), span }) =
                    root.find_mut(&list.index(index))
                {
                    entries.retain(|entry| entry.key != "mac-address");
                    entries.push(entry("mac-address", address, *span));
                    is_changed = true;
                }
                continue;
            }
            // An Ethernet card, as nmstate takes it for: InfiniBand has a mode, which nobody has given here.
            let reference = undeclared.iter().find(|node| node.text() == Some(name));
            if let Some(reference) = reference.filter(|_| !nic.mac_address.is_infiniband())
                && let Some(Node { value: Value::Sequence(items), .. }) = root.find_mut(&list)
                && !items.iter().any(|item| item.text_at("name") == Some(name))
            {
                items.push(card(name, address, reference.span));
                is_changed = true;
            }
        }
        Some(if is_changed { document.part(root) } else { document.clone() })
    }
}

/// A card that is to be up, at the place of its reference.
fn card(name: &str, address: String, span: Span) -> Node<'static> {
    let keys = [
        ("name", name.to_owned()),
        ("type", "ethernet".to_owned()),
        ("state", "up".to_owned()),
        ("mac-address", address),
    ];
    let entries = keys.into_iter().map(|(key, value)| entry(key, value, span)).collect();
    Node { span, value: Value::Mapping(entries) }
}

fn entry(key: &'static str, value: String, span: Span) -> Entry<'static> {
    let value = Value::Scalar { text: value.into(), plain: false };
    Entry { key: key.into(), key_span: span, node: Node { span, value } }
}

#[cfg(test)]
mod tests {
    use nmgen_document::mac::Mac;
    use nmgen_document::text::Source;

    use crate::interface;
    use crate::source::{Host, Nic};

    /// The names and addresses of a document's interfaces, given a map of eth0 and eth1.
    fn cards(text: &str) -> Vec<(String, Option<Mac>)> {
        let source = Source { name: "test".into(), text: text.into() };
        let host = Host::of_file(None, &source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let nic = |(name, mac): (&str, &str)| {
            let mac_address = Mac::parse(mac).unwrap_or_else(|| unreachable!("{mac}"));
            Nic { name: Some(name.to_owned()), mac_address, place: host.place.clone() }
        };
        let map = [("eth0", "52:54:00:00:01:01"), ("eth1", "52:54:00:00:01:02")];
        let host = Host { nics: map.map(nic).into(), ..host };
        let document = host.with_mac_addresses();
        let root = document.map(|document| document.root).unwrap_or_else(|| unreachable!("{text}"));
        let cards = interface::all(&root).iter();
        cards
            .map(|node| {
                (node.text_at("name").unwrap_or_default().to_owned(), node.mac_at("mac-address"))
            })
            .collect()
    }

    #[test]
    fn a_card_that_is_only_referred_to_is_declared() {
        let names = |text: &str| -> Vec<String> {
            let cards = cards(text).into_iter();
            cards
                .map(|(name, mac)| mac.map_or(name.clone(), |mac| format!("{name} {mac}")))
                .collect()
        };
        let bond = "{name: bond0, type: bond, link-aggregation: {mode: active-backup, port: [eth1, eth0, eth2]}}";
        let both = ["bond0", "eth0 52:54:00:00:01:01", "eth1 52:54:00:00:01:02"];
        assert_eq!(names(&format!("interfaces: [{bond}]\n")), both);
        let vlan = "{name: eth1.5, type: vlan, vlan: {base-iface: eth1, id: 5}}";
        assert_eq!(names(&format!("interfaces: [{vlan}]\n")), ["eth1.5", "eth1 52:54:00:00:01:02"]);
        // The document's own entry counts, by whichever of its names; one that goes refers to nothing.
        for (more, expected) in [
            (
                "{name: eth0}, {name: eth1, state: down}",
                &["bond0", "eth0 52:54:00:00:01:01", "eth1 52:54:00:00:01:02"][..],
            ),
            (
                "{name: eth0, mac-address: ''}, {name: eth1, mac-address: '52:54:00:00:01:09'}",
                &["bond0", "eth0 52:54:00:00:01:01", "eth1 52:54:00:00:01:09"],
            ),
            (
                "{name: a, profile-name: eth0}, {name: b, alt-names: [{name: eth1}]}",
                &["bond0", "a", "b"],
            ),
        ] {
            assert_eq!(names(&format!("interfaces: [{bond}, {more}]\n")), expected, "{more}");
        }
        let gone = bond.replace("type: bond", "type: bond, state: absent");
        assert_eq!(names(&format!("interfaces: [{gone}]\n")), ["bond0"]);
        assert_eq!(names("interfaces: [{name: eth2}]\n"), ["eth2"]);
    }
}

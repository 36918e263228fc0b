//! MAC addresses that a source gives beside the document, written into it: `nmgen boot` finds the cards
//! by them.

use nmgen_document::text::Span;
use nmgen_document::{Document, Entry, Node, Path, Value};

use super::host::Host;

impl Host {
    /// The document, with the source's MAC addresses added to interfaces without one.
    pub fn with_mac_addresses(&self) -> Option<Document<'static>> {
        let document = self.document()?;
        let mut root = document.root.clone();
        let mut is_changed = false;
        for nic in &self.nics {
            let Some(name) = &nic.name else { continue };
            let Some((index, node)) = document.interface(name) else { continue };
            if node.get("mac-address").is_some() {
                continue;
            }
            let path = Path::default().key("interfaces").index(index);
            if let Some(Node { value: Value::Mapping(entries), span }) = root.find_mut(&path) {
                entries.retain(|entry| entry.key != "mac-address");
                entries.push(entry("mac-address", nic.mac_address.to_string(), *span));
                is_changed = true;
            }
        }
        Some(if is_changed { document.part(root) } else { document.clone() })
    }
}

fn entry(key: &'static str, value: String, span: Span) -> Entry<'static> {
    let value = Value::Scalar { text: value.into(), plain: false };
    Entry { key: key.into(), key_span: span, node: Node { span, value } }
}

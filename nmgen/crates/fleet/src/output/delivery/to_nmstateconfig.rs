//! NMStateConfig objects of assisted-service (`agent-install.openshift.io/v1beta1`).

use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::error::Error;
use nmgen_document::mac::Mac;
use serde_json::{Map, Value, json};

use super::cards;
use super::host_name::named;
use super::kubernetes_object::{self, embedded, metadata, yaml};
use crate::convert::Converted;
use crate::output::options::Options;

rules! {
    /// A card whose address a form needs.
    error NIC_WITHOUT_MAC = "nic-without-mac";
}

/// One object per host.
pub(crate) fn render(
    hosts: &[Converted],
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Result<Vec<u8>, Error> {
    let labels = options.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
    let labels: Map<String, Value> = labels.collect();
    let mut text = String::new();
    for (name, converted) in named("nmstateconfig", hosts, diagnostics) {
        let host = &converted.host;
        let Some(document) = host.document() else { continue };
        if !kubernetes_object::is_name(name, "the host's name", &host.place, diagnostics) {
            continue;
        }
        let mut metadata = metadata(name, options.namespace.as_deref());
        if !labels.is_empty() {
            metadata["labels"] = labels.clone().into();
        }
        text += &yaml(&json!({
            "apiVersion": "agent-install.openshift.io/v1beta1",
            "kind": "NMStateConfig",
            "metadata": metadata,
            "spec": { "interfaces": interfaces(converted, diagnostics) },
        }))?;
        // Appended as text, so that the document is not reformatted.
        text += "  config:\n";
        text += &embedded(document, 4);
    }
    Ok(text.into_bytes())
}

/// The source's map first, then cards that only the document has. One at least: assisted-service finds the host by them.
fn interfaces(converted: &Converted, diagnostics: &mut Diagnostics) -> Vec<Value> {
    let map = |name: &str, mac: Mac| json!({ "name": name, "macAddress": mac.to_string() });
    let mapped = converted
        .host
        .nics
        .iter()
        .filter_map(|nic| Some(map(nic.name.as_deref()?, nic.mac_address)));
    let mut interfaces: Vec<Value> = mapped.collect();
    let cards = cards::cards(converted);
    if interfaces.is_empty() && cards.is_empty() {
        let message = "no NIC of this host is known";
        let help =
            "assisted-service finds a host by the MAC address of a NIC: add one to the document";
        diagnostics.add(NIC_WITHOUT_MAC, converted.host.place.clone(), message, help);
    }
    for card in cards {
        match (card.mapped_mac_address, card.mac_address) {
            (Some(_), _) => {}
            (None, Some(mac)) => interfaces.push(map(&card.name, mac)),
            (None, None) => diagnostics.add(
                NIC_WITHOUT_MAC,
                card.place,
                format!("the MAC address of NIC {} is unknown", card.name),
                "give the interface its mac-address; assisted-service refuses a NIC without",
            ),
        }
    }
    interfaces
}

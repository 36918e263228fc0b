//! A VLAN interface whose name ends in another id than its own.

use nmgen_core::interface;
use nmgen_core::source::Host;
use nmgen_document::diagnostic::{Diagnostics, rules};

rules! {
    warning VLAN_NAME_DIFFERS = "vlan-name-differs";
}

pub(super) fn check(host: &Host, diagnostics: &mut Diagnostics) {
    let Some(document) = host.document() else { return };
    for interface in interface::all(&document.root) {
        let Some(name) = interface.text_at("name") else { continue };
        let Some(vlan) = interface.get("vlan") else { continue };
        let Some(node) = vlan.get("id") else { continue };
        let Some((base, suffix)) = name.rsplit_once('.') else { continue };
        let is_id = |id: &u64| (1..=4094).contains(id);
        let named: Option<u64> = suffix.parse().ok().filter(is_id);
        if let (Some(named), Some(id)) = (named, node.number())
            && vlan.text_at("base-iface") == Some(base)
            && is_id(&id)
            && named != id
        {
            let message = format!("{name} has VLAN id {id}");
            let help = "a name with another id misleads who reads it: correct one of the two";
            diagnostics.add(VLAN_NAME_DIFFERS, document.place(node.span), message, help);
        }
    }
}

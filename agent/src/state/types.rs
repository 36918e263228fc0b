//! Types of interfaces that a document names without one.

use nmstate::{Interface, InterfaceType, NetworkState};

/// Whether the document leaves the type to the node. An absent interface without a type is each one of its name.
pub(super) fn is_unknown(iface: &Interface) -> bool {
    iface.iface_type() == InterfaceType::Unknown && iface.is_up()
}

/// Gives each such interface the type of the one that has its name in `current`; where none or several have it, nmstate judges.
pub(super) fn resolve(state: &mut NetworkState, current: &NetworkState) {
    let untyped: Vec<Interface> =
        state.interfaces.iter().filter(|interface| is_unknown(interface)).cloned().collect();
    for iface in untyped {
        let mut found =
            current.interfaces.iter().filter(|interface| interface.name() == iface.name());
        let (Some(one), None) = (found.next(), found.next()) else { continue };
        if let Some(typed) = with_type(&iface, &one.iface_type()) {
            state.interfaces.remove_iface(iface.name(), InterfaceType::Unknown);
            state.interfaces.push(typed);
        }
    }
}

/// Through JSON, since each type has its own struct; `None` if the keys are not those of the type.
fn with_type(iface: &Interface, kind: &InterfaceType) -> Option<Interface> {
    let mut value = serde_json::to_value(iface).ok()?;
    value.as_object_mut()?.insert("type".to_owned(), kind.to_string().into());
    serde_json::from_value(value).ok()
}

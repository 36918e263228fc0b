//! Types of interfaces that a document names without one.

use nmstate::{Interface, InterfaceType};

use super::State;

impl State {
    /// Whether nmstate has to find out the type of an interface.
    pub(crate) fn lacks_types(&self) -> bool {
        self.0.interfaces.iter().any(is_unknown)
    }

    /// This desired state with the types that interfaces have in `current`, the state before the change: after it a bridge
    /// may have an interface of its own name. Where none or several interfaces have the name, nmstate judges.
    pub(crate) fn with_types_of(mut self, current: &Self) -> Self {
        let untyped: Vec<Interface> =
            self.0.interfaces.iter().filter(|interface| is_unknown(interface)).cloned().collect();
        for iface in untyped {
            let mut found =
                current.0.interfaces.iter().filter(|interface| interface.name() == iface.name());
            let (Some(one), None) = (found.next(), found.next()) else { continue };
            if let Some(typed) = with_type(&iface, &one.iface_type()) {
                self.0.interfaces.remove_iface(iface.name(), InterfaceType::Unknown);
                self.0.interfaces.push(typed);
            }
        }
        self
    }
}

/// Whether the document leaves the type to the node. An absent interface without a type is each one of its name.
fn is_unknown(iface: &Interface) -> bool {
    iface.iface_type() == InterfaceType::Unknown && iface.is_up()
}

/// Through JSON, since each type has its own struct; `None` if the keys are not those of the type.
fn with_type(iface: &Interface, kind: &InterfaceType) -> Option<Interface> {
    let mut value = serde_json::to_value(iface).ok()?;
    value.as_object_mut()?.insert("type".to_owned(), kind.to_string().into());
    serde_json::from_value(value).ok()
}

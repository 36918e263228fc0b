//! A network card that a source lists beside the document.

use crate::diagnostic::rules;
use crate::mac::Mac;
use crate::text::place::Place;

rules! {
    pub(crate) error MAC_SYNTAX = "mac-syntax";
}

/// The help for an invalid MAC address.
pub(crate) const SIX_BYTES: &str = "write six bytes in hexadecimal, such as 52:54:00:12:34:56";

/// A network card that the source lists beside the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// The interface's name in the document; `None` if only the MAC address is known
    /// (`bootMACAddress`).
    pub name: Option<String>,
    /// Its address.
    pub mac_address: Mac,
    /// The place of the MAC address.
    pub place: Place,
}

//! A network card that a source lists beside the document.

use nmgen_document::diagnostic::rules;
use nmgen_document::mac::Mac;
use nmgen_document::text::place::Place;

rules! {
    /// Text that is no MAC address.
    pub error MAC_SYNTAX = "mac-syntax";
}

/// The help for an invalid MAC address.
pub const SIX_BYTES: &str = "write six bytes in hexadecimal, such as 52:54:00:12:34:56";

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

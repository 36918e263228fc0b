//! A network card that a source names beside the document.

use crate::diagnostic::rules;
use crate::mac::Mac;
use crate::text::place::Place;

rules! {
    pub(crate) error MAC_SYNTAX = "mac-syntax";
}

/// The help for a MAC address that is none.
pub(crate) const SIX_BYTES: &str = "write six bytes in hexadecimal, such as 52:54:00:12:34:56";

/// A network card that the source names beside the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nic {
    /// The name that the document uses; `None` where only the MAC address is given
    /// (`bootMACAddress`).
    pub name: Option<String>,
    /// Its address.
    pub mac_address: Mac,
    /// Where the MAC address stands.
    pub place: Place,
}

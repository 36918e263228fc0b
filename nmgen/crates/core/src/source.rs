//! A host, its document and its network cards; one file, read within bounds.

pub mod bounded;
mod host;
mod mac_addresses;
mod nic;
pub mod read_file;

use nmgen_document::diagnostic::Rule;
pub use nmgen_document::text::Source;

pub use self::host::{Host, HostNetwork, Stage};
pub use self::nic::{MAC_SYNTAX, Nic, SIX_BYTES};

/// Rules about single files and cards.
pub fn rules() -> Vec<Rule> {
    [read_file::RULES, nic::RULES].concat()
}

//! One document: checked, converted to NetworkManager's connection profiles by nmstate, verified, shown.
//!
//! Nothing here knows sources of a fleet; so it is what the agent and the program of an initramfs are built on.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

pub mod check;
pub mod convert;
pub mod difference;
pub mod initramfs;
pub mod interface;
pub mod node;
pub mod output;
pub mod profile;
mod reading;
pub mod show;
pub mod source;
pub mod stack;
pub mod state;
pub mod write;

pub use nmgen_document::Mac;
pub use nmgen_document::diagnostic;
pub use nmgen_document::error::Error;
pub use nmgen_document::format::{
    chain, hex, printable, printable_json, printable_lines, printable_page,
};
pub use nmgen_document::spelling;
pub use nmgen_document::text::secret::{self, without_secrets};

pub use crate::reading::Reading;

/// The version, as `--version` prints it. `make` adds the commit and its date: `0.3.0 (COMMIT, YYYY-MM-DD)`.
pub const VERSION: &str = match option_env!("BUILD_VERSION") {
    Some(with_commit) => with_commit,
    None => env!("CARGO_PKG_VERSION"),
};

//! A YAML document as a tree of values with positions, and diagnostics at these positions.
//!
//! nmstate reads this tree through serde, so that it gets exactly what was checked, and decides what
//! the document means.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod budget;
mod deserialize;
pub mod diagnostic;
mod dialect;
pub mod error;
pub mod format;
#[cfg(feature = "hints")]
mod hint;
mod json;
pub mod mac;
pub mod nested;
mod parse;
mod parsed;
mod path;
pub mod pattern;
mod quoted;
mod render;
mod scalar;
pub mod size;
mod space;
pub mod spelling;
mod tab;
pub mod template;
pub mod text;
mod tree;
pub mod yaml_1_1;

pub use self::parse::parse;
pub use self::parsed::Document;
pub use self::path::{Path, Step};
pub use self::tree::{Entry, Node, Value};
use crate::diagnostic::Rule;
pub use crate::error::Error;
pub use crate::mac::Mac;

/// Faults of a document as YAML.
pub fn rules() -> Vec<Rule> {
    #[cfg(feature = "hints")]
    const OF_HINTS: &[Rule] = hint::conflict::RULES;
    #[cfg(not(feature = "hints"))]
    const OF_HINTS: &[Rule] = &[];
    [size::RULES, parse::RULES, space::RULES, template::RULES, OF_HINTS].concat()
}

//! A YAML document as a tree of values with positions.
//!
//! nmstate reads this tree through serde, so that it gets exactly what was checked, and decides what
//! the document means.

mod deserialize;
mod dialect;
#[cfg(feature = "pipelines")]
pub(crate) mod nested;
mod parse;
mod parsed;
mod path;
mod render;
mod scalar;
pub(crate) mod size;
mod space;
mod tab;
mod template;
mod tree;

pub(crate) use self::parse::parse;
pub(crate) use self::parsed::Document;
pub(crate) use self::path::{Path, Step};
pub(crate) use self::tree::{Entry, Node, Value};
use crate::diagnostic::Rule;

/// Faults of a document as YAML.
pub(crate) fn rules() -> Vec<Rule> {
    [size::RULES, parse::RULES, space::RULES, template::RULES].concat()
}

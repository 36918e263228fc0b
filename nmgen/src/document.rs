//! A YAML document as a tree in which every value knows where it stands.
//!
//! nmstate decides what a document means: it reads this tree by serde, so that what was checked is what
//! it gets.

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
mod tree;

pub(crate) use self::parse::parse;
pub(crate) use self::parsed::Document;
pub(crate) use self::path::{Path, Step};
pub(crate) use self::tree::{Entry, Node, Value};
use crate::diagnostic::Rule;

/// What can be wrong with a document as YAML.
pub(crate) fn rules() -> Vec<Rule> {
    [size::RULES, parse::RULES, space::RULES].concat()
}

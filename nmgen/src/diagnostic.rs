//! Faults of an input: rule, message and place.

mod display;
mod finding;
mod json;
pub(crate) mod rule;
mod sink;

pub use self::display::{Style, render, render_all};
pub use self::finding::Diagnostic;
pub use self::json::to_json;
pub(crate) use self::rule::rules;
pub use self::rule::{Rule, Severity};
pub use self::sink::Diagnostics;
pub use crate::text::place::{Excerpt, Place};

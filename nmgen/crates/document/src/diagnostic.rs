//! Faults of an input: rule, message and place.

mod display;
mod finding;
pub mod rule;
mod sink;

pub use self::display::{Style, render, render_report, short_place};
pub use self::finding::{Diagnostic, OtherHost};
pub use self::rule::rules;
pub use self::rule::{Rule, Severity};
pub use self::sink::Diagnostics;
pub use crate::text::place::{Excerpt, Place};

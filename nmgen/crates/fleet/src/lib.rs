//! Fleets: descriptions of many hosts from many kinds of sources, compared with each other, and the forms of output that carry them
//! to the nodes.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

mod allow;
pub mod changes;
mod check;
mod confusable;
mod convert;
pub mod derive;
mod follows;
mod hints;
mod missing_host;
pub mod output;
pub mod page;
mod parallel;
pub mod picture;
pub mod report;
mod rules;
pub mod source;

pub use crate::allow::{Allowance, Findings, Suppressed};
pub use crate::convert::{Converted, Outcome, check, convert, diagnose, findings, validate};
pub use crate::rules::rules;

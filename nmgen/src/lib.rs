//! From NMState documents to safe NetworkManager connection profiles.
//!
//! The stages, each a module: [`source`] (files, directories) -> [`document`] (a tree with positions)
//! -> [`check`] (diagnostics) -> [`profile`] (conversion by nmstate, verified) -> [`target`]
//! (keyfiles, `gc`). Everything between reading sources and writing targets is a pure function of text.

mod check;
pub mod cli;
pub mod diagnostic;
pub mod diff;
pub mod document;
mod error;
mod pipeline;
pub mod profile;
pub mod show;
pub mod source;
mod stack;
mod state;
pub mod target;
mod write;

pub use self::check::rules;
pub use self::error::Error;
pub use self::pipeline::{Converted, Outcome, check, convert, convert_for, diagnose};

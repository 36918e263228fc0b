//! What the suites share.

pub mod examples;
pub mod fleet;
pub mod measure;
pub mod program;

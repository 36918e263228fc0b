//! What the suites share.

pub mod fleet;
pub mod measure;
pub mod program;

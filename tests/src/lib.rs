//! What the suites share.

pub mod dayone;
pub mod fleet;
pub mod lab;
pub mod measure;
pub mod program;

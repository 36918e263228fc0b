//! What the suites share.

pub mod documents;
pub mod fleet;
pub mod keyfile;
pub mod lab;
pub mod measure;
pub mod mutation;
pub mod program;
pub mod yaml;

/// False until the rule `absent-offline` is in: then what is to be removed is told like the rest.
pub const ABSENT_IS_TOLD: bool = false;

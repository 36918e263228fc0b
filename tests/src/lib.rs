//! What the suites share.

pub mod documents;
pub mod keyfile;

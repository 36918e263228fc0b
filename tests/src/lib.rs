//! What the suites share.

pub mod lab;

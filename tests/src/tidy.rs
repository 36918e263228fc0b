//! What the source tree keeps to.

pub mod imports;
mod paths;

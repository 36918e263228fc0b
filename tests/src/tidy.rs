//! Rules of the source tree.

pub mod guards;
pub mod imports;
mod paths;

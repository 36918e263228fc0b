//! Rules of the source tree.

pub mod imports;
mod paths;

//! The result of a form.

use crate::write::File;

/// Files, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Files below a directory.
    Directory(Vec<File>),
    /// One file, or standard output.
    File(Vec<u8>),
}

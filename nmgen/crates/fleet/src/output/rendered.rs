//! The result of a form.

use nmgen_core::write::File;

/// Files, or one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Files below a directory.
    Directory(Vec<File>),
    /// One file with a name of its own, for a directory; else like [`Self::File`].
    Named(File),
    /// One file, or standard output.
    File(Vec<u8>),
}

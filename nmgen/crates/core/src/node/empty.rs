//! The definition of an empty document.

/// True for a document of white space only, or nothing. It counts as absent.
pub fn is_empty(document: &[u8]) -> bool {
    std::str::from_utf8(document).is_ok_and(|text| text.trim().is_empty())
}

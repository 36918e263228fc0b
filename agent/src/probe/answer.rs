//! The result of one question.

/// An answer, or why there is none.
pub(super) type Answer = Result<String, String>;

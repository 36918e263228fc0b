//! The result of one question.

/// An answer in words, or why there is none.
pub(super) type Answer = Result<String, String>;

/// An answer, with what others should have answered too.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) detail: String,
    pub(super) warning: Option<String>,
}

impl From<String> for Answered {
    fn from(detail: String) -> Self {
        Self { detail, warning: None }
    }
}

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// There may be one later.
    Yet(String),
    /// There is nobody to ask.
    Ever(String),
}

impl From<String> for NoAnswer {
    fn from(why: String) -> Self {
        Self::Yet(why)
    }
}

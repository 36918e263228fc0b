//! What the program did.

use crate::diagnostic::Diagnostic;

/// What the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Success,
    /// The diagnostics say why.
    InputWrong,
    /// It was said where it belongs.
    Failed,
}

/// An error, or a warning where they are denied, makes the input wrong.
pub(super) fn verdict(diagnostics: &[Diagnostic], deny_warnings: bool) -> Done {
    let wrong = |diagnostic: &Diagnostic| deny_warnings || diagnostic.is_error();
    if diagnostics.iter().any(wrong) { Done::InputWrong } else { Done::Success }
}

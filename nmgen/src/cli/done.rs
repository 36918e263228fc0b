//! The outcome of a command.

use nmgen_document::diagnostic::Diagnostic;

/// The outcome of a command; the exit code follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Success,
    /// The diagnostics give the reason.
    InputWrong,
    /// The error has been printed; of `diff --exit-code`, the differences.
    Failed,
    /// A node of `report` is not as its document wants.
    NotAsWanted,
}

/// Errors make the input wrong, and with `deny_warnings` warnings too.
pub(super) fn verdict(diagnostics: &[Diagnostic], deny_warnings: bool) -> Done {
    let wrong = |diagnostic: &Diagnostic| deny_warnings || diagnostic.is_error();
    if diagnostics.iter().any(wrong) { Done::InputWrong } else { Done::Success }
}

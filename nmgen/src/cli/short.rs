//! Findings in a line each, for programs that show one line: editors, installers.

use nmgen_document::diagnostic::{Diagnostic, short_place as place};
use nmgen_document::format::{counted, printable};

/// `FILE:LINE:COLUMN: error: MESSAGE [RULE]` a finding, as compilers write it.
pub(super) fn lines(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|finding| format!("{}\n", line(finding))).collect()
}

/// The first error, as nmstatectl ends: openshift-install shows what stands behind the last `Error:`. Empty without an error.
pub(super) fn last_line(diagnostics: &[Diagnostic]) -> String {
    let mut errors = diagnostics.iter().filter(|finding| finding.is_error());
    let Some(first) = errors.next() else { return String::new() };
    let more = match errors.count() {
        0 => String::new(),
        more => format!(", and {}", counted(more, "more error")),
    };
    let help = first.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    // The words that a reader splits at are not the message's.
    let text = format!("{}{help}", first.message).replace("Error:", "error:");
    format!("Error: {}: {} [{}]{more}\n", place(first), printable(&text), first.rule.name)
}

fn line(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.help.as_ref().map_or_else(String::new, |help| format!(" ({help})"));
    format!(
        "{}: {}: {} [{}]",
        place(diagnostic),
        diagnostic.rule.severity,
        printable(&format!("{}{help}", diagnostic.message)),
        diagnostic.rule.name
    )
}

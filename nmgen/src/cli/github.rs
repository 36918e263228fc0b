//! Findings as annotations of GitHub Actions, from the documentation of its workflow commands.

use nmgen_document::diagnostic::{Diagnostic, Severity};
use nmgen_document::format::printable;

/// One `::error file=…,line=…,col=…,title=…::message` a finding.
pub(super) fn annotations(diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(annotation).collect()
}

/// The annotation of a failure to read the sources.
pub(super) fn failure(error: &str) -> String {
    format!("::error title=nmgen::{}\n", data(error))
}

fn annotation(diagnostic: &Diagnostic) -> String {
    let place = &diagnostic.place;
    let kind = match diagnostic.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let position = place.position.as_ref().map_or(String::new(), |at| {
        let (line, column) = (at.start.line, at.start.column);
        format!(",line={line},col={column},endColumn={}", column + at.width.max(1))
    });
    let help = diagnostic.help.as_ref().map_or(String::new(), |help| format!("\nhelp: {help}"));
    format!(
        "::{kind} file={}{position},title={}::{}\n",
        property(&printable(&place.file)),
        property(diagnostic.rule.name),
        data(&format!("{}{help}", diagnostic.message)),
    )
}

/// The escaping of a command's text.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The escaping of a command's property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

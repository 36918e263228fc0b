//! Findings on a page.

use maud::{Markup, html};
use nmgen_document::diagnostic::{Diagnostic, Severity, Style, render};

use super::budget::Budget;

/// Findings of one entry that are shown.
pub(super) const MOST: usize = 20;

/// The place is as on a terminal, with the line and what is marked in it.
pub(super) fn list(findings: &[&Diagnostic], budget: &mut Budget) -> Markup {
    let mut shown = Vec::new();
    for finding in findings.iter().take(MOST) {
        let text = render(finding, Style::Plain);
        if !budget.has_room(text.len()) {
            break;
        }
        let (title, place) = text.split_once('\n').unwrap_or((&text, ""));
        shown.push((class(finding), title.to_owned(), place.to_owned()));
    }
    let more = findings.len() - shown.len();
    html! {
        ul.findings aria-label="Findings" {
            @for (class, title, place) in &shown {
                li class=(class) { p { (title) } pre tabindex="0" { (place) } }
            }
            @if more > 0 { li { "and " (more) " more: nmgen check" } }
        }
    }
}

pub(super) fn class(finding: &Diagnostic) -> &'static str {
    match finding.rule.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

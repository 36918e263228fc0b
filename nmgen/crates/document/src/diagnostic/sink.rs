//! Collects findings.

use std::ops::Deref;
use std::sync::Arc;

use super::finding::Diagnostic;
use super::rule::Rule;
use crate::text::place::Place;

/// Findings, in the order of discovery until they are sorted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// True when one of them is an error.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(Diagnostic::is_error)
    }

    /// Adds a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.0.push(diagnostic);
    }

    /// Adds a finding with a remedy.
    pub fn add(
        &mut self,
        rule: Rule,
        place: Place,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::new(rule, message, place).help(help));
    }

    /// The value; on an error its findings are added instead.
    pub fn accept<T>(&mut self, result: Result<T, Self>) -> Option<T> {
        result.map_err(|faults| self.extend(faults)).ok()
    }

    /// Keeps the findings for which this is true.
    pub fn retain(&mut self, keep: impl FnMut(&Diagnostic) -> bool) {
        self.0.retain(keep);
    }

    /// Adds findings, sorted by file, line and column. Repeated ones are left out, since an anchor can give several hosts the
    /// same part of a file, and two forms of output may lose the same value; the first host's stays.
    pub fn merge(&mut self, others: Self) {
        self.extend(others);
        self.0.sort_by_cached_key(Diagnostic::sort_key);
        self.0.dedup_by(|one, other| {
            one.rule == other.rule
                && one.place == other.place
                && one.message == other.message
                && one.help == other.help
        });
    }

    /// Names the host whose document the findings are about.
    pub fn of_host(&mut self, name: Option<&str>) {
        if self.0.is_empty() {
            return;
        }
        let host: Option<Arc<str>> = name.map(Arc::from);
        for diagnostic in &mut self.0 {
            diagnostic.host.clone_from(&host);
        }
    }
}

impl Deref for Diagnostics {
    type Target = [Diagnostic];

    fn deref(&self) -> &[Diagnostic] {
        &self.0
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(diagnostic: Diagnostic) -> Self {
        Self(vec![diagnostic])
    }
}

impl FromIterator<Diagnostic> for Diagnostics {
    fn from_iter<I: IntoIterator<Item = Diagnostic>>(diagnostics: I) -> Self {
        Self(diagnostics.into_iter().collect())
    }
}

impl Extend<Diagnostic> for Diagnostics {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        self.0.extend(diagnostics);
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'d> IntoIterator for &'d Diagnostics {
    type Item = &'d Diagnostic;
    type IntoIter = std::slice::Iter<'d, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

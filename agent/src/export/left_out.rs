//! Parts that a document does not have, and why.

/// More names are a number.
const SHOWN: usize = 12;

/// Parts that a document does not have, each with its reason.
#[derive(Debug, Default)]
pub(super) struct LeftOut(Vec<(Vec<String>, &'static str)>);

impl LeftOut {
    /// Adds things that are left out for one reason, if there are any.
    pub(super) fn add(&mut self, what: impl IntoIterator<Item = String>, why: &'static str) {
        let what: Vec<String> = what.into_iter().collect();
        if !what.is_empty() {
            self.0.push((what, why));
        }
    }

    /// Returns a line for each reason.
    pub(super) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(what, why)| {
            let shown = what[..what.len().min(SHOWN)].join(", ");
            match what.len().saturating_sub(SHOWN) {
                0 => format!("- {shown}: {why}"),
                more => format!("- {shown} and {more} more: {why}"),
            }
        })
    }
}

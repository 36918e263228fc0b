//! The bound on nmstate's work for the faults of one document, so that no document keeps it busy for minutes.

use nmgen_document::Node;

/// Values to judge, over all questions: half a second of the agent. A fault of a thousand interfaces takes some 20,000 if nmstate
/// names its key, and 150,000 if it has to be searched.
const MOST_VALUES: usize = 400_000;

/// A question costs as much as these values, however small its part is.
const QUESTION: usize = 1_000;

/// The work that is left.
pub(super) struct Effort {
    values: usize,
}

impl Effort {
    pub(super) fn new() -> Self {
        Self { values: MOST_VALUES }
    }

    /// Returns the bound on verdicts by conversion, each of which takes several times as long as one by reading.
    pub(super) fn of_conversions() -> Self {
        Self { values: MOST_VALUES / 2 }
    }

    /// Takes the cost of a verdict on this part; false if there is not enough left.
    pub(super) fn spend(&mut self, part: &Node<'_>) -> bool {
        self.values = self.values.saturating_sub(QUESTION + values(part));
        !self.is_spent()
    }

    pub(super) fn is_spent(&self) -> bool {
        self.values == 0
    }
}

/// The values of a part; of a range of VLAN tags, each of which nmstate looks up, as many as it has.
pub(super) fn values(node: &Node<'_>) -> usize {
    let mut tags: [u64; 2] = [0; 2];
    for entry in node.entries() {
        let end = ["min", "max"].iter().position(|key| **key == *entry.key);
        if let (Some(end), Some(number)) = (end, entry.node.number()) {
            tags[end] = number.min(u16::MAX.into());
        }
    }
    1 + tags[1].saturating_sub(tags[0]) as usize + node.below().map(values).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::{Effort, MOST_VALUES, QUESTION};
    use nmgen_document::text::Source;

    #[test]
    fn a_question_costs_the_values_of_its_part()
    -> Result<(), nmgen_document::diagnostic::Diagnostics> {
        let source = Source { name: "test".into(), text: "a: [b, {c: d}]".into() };
        let mut effort = Effort::new();
        assert!(effort.spend(&nmgen_document::parse(&source)?.root));
        // Two mappings, a list and two words.
        assert_eq!(effort.values, MOST_VALUES - QUESTION - 5);
        Ok(())
    }

    #[test]
    fn small_and_large_questions_come_to_an_end()
    -> Result<(), nmgen_document::diagnostic::Diagnostics> {
        for items in [1, 10_000] {
            let text = format!("[{}]", vec!["1"; items].join(","));
            let source = Source { name: "test".into(), text: text.into() };
            let part = nmgen_document::parse(&source)?.root;
            let mut effort = Effort::new();
            let mut questions = 1;
            while effort.spend(&part) {
                questions += 1;
            }
            assert_eq!(questions, MOST_VALUES.div_ceil(QUESTION + items + 1));
        }
        Ok(())
    }
}

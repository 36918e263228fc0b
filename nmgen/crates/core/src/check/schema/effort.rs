//! The bound on nmstate's work for the faults of one document, so that no document keeps it busy for minutes.

use nmgen_document::Node;

/// Values to judge, over all questions: a fault of a thousand interfaces takes some 150,000.
const MOST_VALUES: usize = 2_000_000;

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
    let end = |key| node.get(key).and_then(Node::number).unwrap_or_default().min(u16::MAX.into());
    1 + end("max").saturating_sub(end("min")) as usize + node.below().map(values).sum::<usize>()
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

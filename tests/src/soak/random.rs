//! The choices of a story.

use proptest::{
    prelude::Rng as _,
    test_runner::{RngAlgorithm, TestRng},
};

/// A source of choices: the same ones for a seed and a node's number.
#[derive(Debug)]
pub(super) struct Random(TestRng);

impl Random {
    pub(super) fn new(seed: u64, case: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        bytes[8..16].copy_from_slice(&case.to_le_bytes());
        Self(TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: u32) -> u32 {
        self.0.next_u32() % bound.max(1)
    }

    /// True so often in a hundred.
    pub(super) fn is_chosen(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// One of several. `all` must not be empty.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        let bound = u32::try_from(all.len()).unwrap_or(u32::MAX);
        all[usize::try_from(self.below(bound)).unwrap_or_default()]
    }
}

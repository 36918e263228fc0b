//! Values that differ from those of the majority.

use std::collections::HashMap;
use std::hash::Hash;

/// A value that differs from the majority's.
pub(super) struct Odd<V> {
    pub(super) index: usize,
    pub(super) value: V,
    pub(super) others: V,
    /// The number of hosts in the majority.
    pub(super) count: usize,
}

/// The values that differ; none without a majority of at least two.
pub(super) fn odd<V: Eq + Hash + Copy>(values: &[V]) -> impl Iterator<Item = Odd<V>> {
    let mut counts: HashMap<V, usize> = HashMap::new();
    for value in values {
        *counts.entry(*value).or_default() += 1;
    }
    let majority = counts
        .into_iter()
        .find(|(_, count)| *count * 2 > values.len() && *count > 1 && *count < values.len());
    values.iter().enumerate().filter_map(move |(index, value)| {
        let (others, count) = majority?;
        (*value != others).then_some(Odd { index, value: *value, others, count })
    })
}

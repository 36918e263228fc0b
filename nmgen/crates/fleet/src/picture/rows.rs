//! Rows of bricks. A line that crosses a row has a place in it, so that it runs behind no brick.

use super::brick::Brick;

/// The rows from the bottom to the top; indices from the number of bricks on are places of lines.
pub(super) struct Rows {
    pub(super) rows: Vec<Vec<usize>>,
    /// The bricks below each brick or place: always in the next row, but for a circle.
    pub(super) below: Vec<Vec<usize>>,
}

/// In the order in which a walk from the top meets the bricks.
pub(super) fn rows(bricks: &[Brick]) -> Rows {
    let mut walk = Walk { bricks, levels: vec![None; bricks.len()], order: Vec::new() };
    let mut is_below = vec![false; bricks.len()];
    for below in bricks.iter().flat_map(|brick| &brick.below) {
        is_below[*below] = true;
    }
    let tops = (0..bricks.len()).filter(|index| !is_below[*index]);
    // In a circle each brick is below another one.
    for index in tops.chain(0..bricks.len()) {
        walk.visit(index, 0);
    }
    let levels: Vec<usize> = walk.levels.iter().map(|level| level.unwrap_or(0)).collect();
    let height = levels.iter().max().map_or(0, |level| level + 1);
    let mut rows: Vec<Vec<(usize, usize)>> = vec![Vec::new(); height];
    let mut position = vec![0; bricks.len()];
    for (order, index) in walk.order.into_iter().enumerate() {
        position[index] = order;
        rows[levels[index]].push((order, index));
    }
    let mut below: Vec<Vec<usize>> = bricks.iter().map(|_| Vec::new()).collect();
    for (index, brick) in bricks.iter().enumerate() {
        for &lower in &brick.below {
            let mut upper = index;
            for level in (levels[lower] + 1..levels[index]).rev() {
                below.push(Vec::new());
                let place = below.len() - 1;
                below[upper].push(place);
                rows[level].push((position[lower], place));
                upper = place;
            }
            below[upper].push(lower);
        }
    }
    for row in &mut rows {
        row.sort_unstable();
    }
    let rows = rows.into_iter().map(|row| row.into_iter().map(|(_, index)| index).collect());
    Rows { rows: rows.collect(), below }
}

/// Real stacks are shallower; a circle is not.
const MAX_DEPTH: usize = 12;

struct Walk<'a> {
    bricks: &'a [Brick],
    /// The row of each brick that was met; 0 until all bricks below it were.
    levels: Vec<Option<usize>>,
    order: Vec<usize>,
}

impl Walk<'_> {
    fn visit(&mut self, index: usize, depth: usize) -> usize {
        if let Some(level) = self.levels[index] {
            return level;
        }
        self.levels[index] = Some(0);
        self.order.push(index);
        let below = &self.bricks[index].below;
        let levels = below.iter().map(|other| match depth < MAX_DEPTH {
            true => self.visit(*other, depth + 1) + 1,
            false => 0,
        });
        let level = levels.max().unwrap_or(0);
        self.levels[index] = Some(level);
        level
    }
}

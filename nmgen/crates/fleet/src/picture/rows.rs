//! Rows of blocks, each block above all that it stands on. A line that crosses a row has a place in it, so that it runs behind no
//! block.

use std::collections::BTreeMap;

/// The rows from the bottom to the top; numbers from the number of blocks on are places of lines.
pub(super) struct Rows {
    pub(super) rows: Vec<Vec<usize>>,
    pub(super) links: Vec<Link>,
    /// The number of blocks and places.
    pub(super) count: usize,
}

/// A piece of a line between two rows.
pub(super) struct Link {
    pub(super) upper: usize,
    /// The line of the upper block; none of a place.
    pub(super) line: Option<usize>,
    pub(super) lower: usize,
}

/// Each block's lower ones, a line each. One that closes a circle is left out.
pub(super) fn rows(below: &[Vec<usize>]) -> Rows {
    let mut walk = Walk { below, levels: vec![None; below.len()], order: Vec::new() };
    let mut is_below = vec![false; below.len()];
    for lower in below.iter().flatten() {
        is_below[*lower] = true;
    }
    let tops = (0..below.len()).filter(|index| !is_below[*index]);
    // In a circle each block is below another one.
    for index in tops.chain(0..below.len()) {
        walk.visit(index, 0);
    }
    let levels: Vec<usize> = walk.levels.iter().map(|level| level.unwrap_or(0)).collect();
    let height = levels.iter().max().map_or(0, |level| level + 1);
    let mut position = vec![0; below.len()];
    for (order, index) in walk.order.iter().enumerate() {
        position[*index] = order;
    }
    let mut rows: Vec<Vec<(usize, usize)>> = vec![Vec::new(); height];
    for (index, level) in levels.iter().enumerate() {
        rows[*level].push((position[index], index));
    }
    let mut all = Rows { rows: Vec::new(), links: Vec::new(), count: below.len() };
    // Lines to one block share their places.
    let mut places: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (index, lowers) in below.iter().enumerate() {
        for (line, &target) in lowers.iter().enumerate() {
            if levels[target] >= levels[index] {
                continue;
            }
            let (mut upper, mut line) = (index, Some(line));
            let mut is_joined = false;
            for level in (levels[target] + 1..levels[index]).rev() {
                let known = places.get(&(target, level)).copied();
                let place = known.unwrap_or(all.count);
                all.links.push(Link { upper, line, lower: place });
                if known.is_some() {
                    is_joined = true;
                    break;
                }
                places.insert((target, level), place);
                rows[level].push((position[target], place));
                all.count += 1;
                (upper, line) = (place, None);
            }
            if !is_joined {
                all.links.push(Link { upper, line, lower: target });
            }
        }
    }
    for row in &mut rows {
        row.sort_unstable();
    }
    let rows = rows.into_iter().map(|row| row.into_iter().map(|(_, index)| index).collect());
    all.rows = rows.collect();
    all.untangle();
    all
}

/// Real stacks are shallower; a circle is not.
const MAX_DEPTH: usize = 12;

struct Walk<'a> {
    below: &'a [Vec<usize>],
    /// The row of each block that was met; 0 until all blocks below it were.
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
        let below = &self.below[index];
        let levels = below.iter().map(|other| match depth < MAX_DEPTH {
            true => self.visit(*other, depth + 1) + 1,
            false => 0,
        });
        let level = levels.max().unwrap_or(0);
        self.levels[index] = Some(level);
        level
    }
}

/// Both directions in turn.
const SWEEPS: usize = 8;
/// Larger pictures stay in the document's order: crossings are counted for each pair of lines.
const MAX_LINKS: usize = 300;

impl Rows {
    /// Orders each row by the neighbours of its blocks, as long as fewer lines cross.
    fn untangle(&mut self) {
        if self.links.len() > MAX_LINKS {
            return;
        }
        let mut best = (self.crossings(), self.rows.clone());
        for sweep in 0..SWEEPS {
            if best.0 == 0 {
                break;
            }
            self.sort(sweep % 2 == 0);
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    /// By index: the place within its row, from 0 to 1.
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.count];
        for row in &self.rows {
            for (position, index) in row.iter().enumerate() {
                places[*index] = (position as f64 + 0.5) / row.len() as f64;
            }
        }
        places
    }

    fn sort(&mut self, upwards: bool) {
        let height = self.rows.len();
        for step in 0..height {
            let level = if upwards { step } else { height - 1 - step };
            let places = self.places();
            let wanted = |index: usize| {
                let others = self.links.iter().filter_map(|link| match upwards {
                    true => (link.upper == index).then_some(places[link.lower]),
                    false => (link.lower == index).then_some(places[link.upper]),
                });
                let others: Vec<f64> = others.collect();
                match others.len() {
                    0 => places[index],
                    count => others.iter().sum::<f64>() / count as f64,
                }
            };
            let mut row: Vec<(f64, usize)> =
                self.rows[level].iter().map(|index| (wanted(*index), *index)).collect();
            row.sort_by(|one, other| one.0.total_cmp(&other.0));
            self.rows[level] = row.into_iter().map(|(_, index)| index).collect();
        }
    }

    fn crossings(&self) -> usize {
        let places = self.places();
        let mut level = vec![0; self.count];
        for (row, indices) in self.rows.iter().enumerate() {
            indices.iter().for_each(|index| level[*index] = row);
        }
        let ends = |link: &Link| (places[link.upper], places[link.lower]);
        let cross = |one: &Link, other: &Link| {
            let ((from, to), (other_from, other_to)) = (ends(one), ends(other));
            level[one.upper] == level[other.upper] && (from - other_from) * (to - other_to) < 0.0
        };
        let pairs = self.links.iter().enumerate();
        pairs.map(|(at, one)| self.links[..at].iter().filter(|it| cross(one, it)).count()).sum()
    }
}

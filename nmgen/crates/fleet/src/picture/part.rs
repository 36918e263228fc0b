//! A part of a stack: blocks that lines connect, with their places and lines.

use std::collections::BTreeMap;

use super::block::{Block, Homes};
use super::brick::Brick;
use super::layout::{Box, Size, Way};
use super::rows::{Rows, rows};
use super::tracks::{APART, Net, Pin, route};

/// Between two blocks of a row, and the least between two rows.
const GAP: f64 = 24.0;
const ROW_GAP: f64 = 34.0;
/// Between two tracks.
const TRACK: f64 = 12.0;
/// Rows are aligned with the ones below and above, in turn.
const SWEEPS: usize = 6;

pub(super) struct Part {
    pub(super) boxes: Vec<(usize, Box)>,
    pub(super) frames: Vec<Box>,
    pub(super) lines: Vec<Vec<Way>>,
    pub(super) size: Size,
}

/// The outermost bricks of each part, in the document's order.
pub(super) fn connected(bricks: &[Brick], homes: &Homes<'_>) -> Vec<Vec<usize>> {
    let outermost: Vec<usize> = (0..bricks.len()).map(|index| homes.outermost(index)).collect();
    let mut beside: Vec<Vec<usize>> = vec![Vec::new(); bricks.len()];
    for (upper, brick) in bricks.iter().enumerate() {
        for &lower in &brick.below {
            let (upper, lower) = (outermost[upper], outermost[lower]);
            beside[upper].push(lower);
            beside[lower].push(upper);
        }
    }
    let mut is_met = vec![false; bricks.len()];
    let mut parts = Vec::new();
    for first in (0..bricks.len()).filter(|index| outermost[*index] == *index) {
        let (mut part, mut ways) = (Vec::new(), vec![first]);
        while let Some(index) = ways.pop() {
            if !std::mem::replace(&mut is_met[index], true) {
                part.push(index);
                ways.extend(&beside[index]);
            }
        }
        part.sort_unstable();
        parts.extend(Some(part).filter(|part| !part.is_empty()));
    }
    parts
}

/// Blocks under which there is one brick, and above which there is nothing, are on a shelf together.
pub(super) fn folded(blocks: Vec<Block>, columns: usize) -> Vec<Block> {
    let targets: Vec<usize> =
        blocks.iter().flat_map(|block| block.lines.iter().map(|line| line.to)).collect();
    let is_top = |block: &Block| !block.bricks.iter().any(|(index, _)| targets.contains(index));
    let mut shelves: BTreeMap<usize, Vec<Block>> = BTreeMap::new();
    let mut all = Vec::new();
    for block in blocks {
        match block.lines.first().map(|line| line.to) {
            Some(to) if is_top(&block) && block.lines.iter().all(|line| line.to == to) => {
                shelves.entry(to).or_default().push(block);
            }
            _ => all.push(block),
        }
    }
    for (to, mut members) in shelves {
        match members.len() {
            1 => all.append(&mut members),
            _ => all.push(Block::shelf(members, to, columns)),
        }
    }
    all
}

/// Blocks in rows, and places of lines between them.
struct Placing<'a> {
    blocks: &'a [Block],
    all: Rows,
    /// By number of a block or of a place.
    left: Vec<f64>,
    /// The links up and down of each.
    up: Vec<Vec<usize>>,
    down: Vec<Vec<usize>>,
}

pub(super) fn placed(blocks: &[Block], homes: &Homes<'_>) -> Part {
    let numbers = blocks.iter().enumerate();
    let by_brick: BTreeMap<usize, usize> =
        numbers.flat_map(|(at, it)| it.bricks.iter().map(move |(index, _)| (*index, at))).collect();
    let number = |to: usize| by_brick.get(&to).or_else(|| by_brick.get(&homes.outermost(to)));
    let below = blocks.iter().enumerate().map(|(at, block)| {
        block.lines.iter().map(|line| number(line.to).copied().unwrap_or(at)).collect()
    });
    let all = rows(&below.collect::<Vec<Vec<usize>>>());
    let (mut up, mut down) = (vec![Vec::new(); all.count], vec![Vec::new(); all.count]);
    for (at, link) in all.links.iter().enumerate() {
        down[link.upper].push(at);
        up[link.lower].push(at);
    }
    let mut placing = Placing { blocks, left: vec![0.0; all.count], all, up, down };
    placing.align();
    placing.part()
}

impl Placing<'_> {
    fn width(&self, index: usize) -> f64 {
        self.blocks.get(index).map_or(0.0, |block| block.size.width)
    }

    fn height(&self, index: usize) -> f64 {
        self.blocks.get(index).map_or(0.0, |block| block.size.height)
    }

    /// The end of a link from the left border of what it belongs to.
    fn upper_end(&self, link: usize) -> f64 {
        let link = &self.all.links[link];
        let line = link.line.and_then(|line| self.blocks.get(link.upper)?.lines.get(line));
        line.map_or(0.0, |line| line.x)
    }

    fn lower_end(&self, link: usize) -> f64 {
        self.width(self.all.links[link].lower) / 2.0
    }

    /// Moves each row towards the middle of what its blocks stand on, and of what stands on them.
    fn align(&mut self) {
        for row in &self.all.rows {
            let mut left = 0.0;
            for &index in row {
                self.left[index] = left;
                left += self.width(index) + GAP;
            }
        }
        let height = self.all.rows.len();
        for sweep in 0..SWEEPS {
            for step in 1..height {
                let upwards = sweep % 2 == 0;
                let level = if upwards { step } else { height - 1 - step };
                let row = &self.all.rows[level];
                let wanted: Vec<f64> = row.iter().map(|it| self.wanted(*it, upwards)).collect();
                let widths: Vec<f64> = row.iter().map(|index| self.width(*index)).collect();
                for (index, left) in row.iter().zip(spread(&wanted, &widths)) {
                    self.left[*index] = left;
                }
            }
        }
        let first = self.left.iter().copied().fold(f64::INFINITY, f64::min);
        self.left.iter_mut().for_each(|left| *left = (*left - first).round());
    }

    fn wanted(&self, index: usize, upwards: bool) -> f64 {
        let links = if upwards { &self.down[index] } else { &self.up[index] };
        let sum: f64 = links
            .iter()
            .map(|&at| {
                let link = &self.all.links[at];
                let (upper, lower) = (self.upper_end(at), self.lower_end(at));
                match upwards {
                    true => self.left[link.lower] + lower - upper,
                    false => self.left[link.upper] + upper - lower,
                }
            })
            .sum();
        match links.len() {
            0 => self.left[index],
            count => sum / count as f64,
        }
    }

    /// Gives heights to the rows and the lines between them.
    fn part(&self) -> Part {
        let mut part = Part {
            boxes: Vec::new(),
            frames: Vec::new(),
            lines: Vec::new(),
            size: Size { width: 0.0, height: 0.0 },
        };
        let mut below: Option<(usize, f64)> = None;
        let mut bottom = 0.0;
        for (level, row) in self.all.rows.iter().enumerate() {
            let height = row.iter().map(|index| self.height(*index)).fold(0.0, f64::max);
            if let Some((lower, lower_bottom)) = below {
                bottom = self.channel(&mut part, lower, lower_bottom, bottom);
            }
            for &index in row {
                self.put(&mut part, index, bottom, height);
            }
            below = Some((level, bottom));
            bottom += height;
        }
        let right = |index: usize| self.left[index] + self.width(index);
        part.size.width = (0..self.all.count).map(right).fold(0.0, f64::max);
        part.size.height = bottom;
        part
    }

    /// A place of a line is a line through its row.
    fn put(&self, part: &mut Part, index: usize, bottom: f64, height: f64) {
        let left = self.left[index];
        let Some(block) = self.blocks.get(index) else {
            let way = Way { from: (left, bottom + height), track: bottom, to: (left, bottom) };
            part.lines.push(vec![way]);
            return;
        };
        let moved = |it: &Box| Box { left: it.left + left, bottom: it.bottom + bottom, ..*it };
        part.boxes.extend(block.bricks.iter().map(|(brick, it)| (*brick, moved(it))));
        part.frames.extend(block.frames.iter().map(moved));
    }

    /// The lines between a row and the next one; returns the bottom of the latter.
    fn channel(&self, part: &mut Part, level: usize, bottom: f64, top: f64) -> f64 {
        let row = &self.all.rows[level];
        let row: Vec<usize> = row.iter().copied().filter(|it| !self.up[*it].is_empty()).collect();
        let mut nets: Vec<Net> = row.iter().map(|index| self.net(*index)).collect();
        let tracks = route(&mut nets);
        let next = top + ROW_GAP.max((tracks + 1) as f64 * TRACK);
        let middle = (next - top) / 2.0;
        let first = middle + tracks.saturating_sub(1) as f64 / 2.0 * TRACK;
        for (index, net) in row.iter().zip(&nets) {
            let end = match self.blocks.get(*index) {
                Some(block) => bottom + block.size.height,
                None => top,
            };
            let track = net.track.map_or(first, |track| (track as f64).mul_add(-TRACK, first));
            let ways = self.up[*index].iter().zip(&net.tops).map(|(link, pin)| {
                let from = (pin.x, next + self.start(*link));
                Way { from, track: top + track.round(), to: (net.bottom.x, end) }
            });
            part.lines.push(ways.collect());
        }
        next
    }

    /// The start of a link above its row's bottom: within a frame.
    fn start(&self, link: usize) -> f64 {
        let link = &self.all.links[link];
        let line = link.line.and_then(|line| self.blocks.get(link.upper)?.lines.get(line));
        line.map_or(0.0, |line| line.bottom)
    }

    fn net(&self, lower: usize) -> Net {
        let room = self.width(lower) / 2.0 - APART;
        let bottom = Pin::new(self.left[lower] + self.width(lower) / 2.0, room);
        let tops = self.up[lower].iter().map(|&at| {
            let link = &self.all.links[at];
            let line = link.line.and_then(|line| self.blocks.get(link.upper)?.lines.get(line));
            let room = line.map_or(0.0, |line| line.room);
            Pin::new(self.left[link.upper] + self.upper_end(at), room)
        });
        Net { bottom, tops: tops.collect(), track: None }
    }
}

/// Positions without overlap: the mean of those pushed to the right and those pushed to the left.
fn spread(wanted: &[f64], widths: &[f64]) -> Vec<f64> {
    let mut right = wanted.to_vec();
    for at in 1..right.len() {
        right[at] = right[at].max(right[at - 1] + widths[at - 1] + GAP);
    }
    let mut left = wanted.to_vec();
    for at in (0..left.len().saturating_sub(1)).rev() {
        left[at] = left[at].min(left[at + 1] - widths[at] - GAP);
    }
    right.iter().zip(left).map(|(right, left)| f64::midpoint(*right, left)).collect()
}

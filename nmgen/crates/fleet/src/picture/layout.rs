//! Places for bricks: each above those that it stands on, and no two in one.

use super::brick::{Brick, Detail};
use super::rows::{Rows, rows};

/// The width of a character of 13 pixels.
pub(super) const CHARACTER: f64 = 8.0;
pub(super) const LINE: f64 = 18.0;
/// Between the text and the border of a brick.
pub(super) const PADDING: f64 = 10.0;
/// Between two bricks of a row, and between two rows.
const GAP: f64 = 24.0;
pub(super) const ROW_GAP: f64 = 34.0;
/// Rows are aligned with the ones below and above, in turn.
const SWEEPS: usize = 6;

/// A brick's rectangle; `bottom` is the distance from the picture's bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box {
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Box {
    pub(super) fn centre(&self) -> f64 {
        self.left + self.width / 2.0
    }
}

/// The places of all bricks, from the left border and the bottom; behind them those of lines that cross a row.
pub(super) struct Layout {
    pub(super) boxes: Vec<Box>,
    /// The boxes below each box.
    pub(super) below: Vec<Vec<usize>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The text of an address or a route, with the interface that it moves from or to.
pub(super) fn text(detail: &Detail, is_later: bool) -> String {
    match &detail.other {
        Some(other) if is_later => format!("{} \u{2190} {other}", detail.text),
        Some(other) => format!("{} \u{2192} {other}", detail.text),
        None => detail.text.clone(),
    }
}

pub(super) fn layout(bricks: &[Brick], is_later: bool) -> Layout {
    let Rows { rows, below } = rows(bricks);
    let mut boxes: Vec<Box> = bricks.iter().map(|brick| size(brick, is_later)).collect();
    boxes.resize(below.len(), Box { left: 0.0, bottom: 0.0, width: 0.0, height: 0.0 });
    let mut bottom = 0.0;
    for row in &rows {
        let mut left = 0.0;
        for &index in row {
            (boxes[index].left, boxes[index].bottom) = (left, bottom);
            left += boxes[index].width + GAP;
        }
        let height = row.iter().map(|index| boxes[*index].height).fold(0.0, f64::max);
        for &line in row.iter().filter(|index| **index >= bricks.len()) {
            boxes[line].height = height;
        }
        bottom += height + ROW_GAP;
    }
    align(&below, &rows, &mut boxes);
    let first = boxes.iter().map(|it| it.left).fold(f64::INFINITY, f64::min);
    for it in &mut boxes {
        it.left = (it.left - first).round();
    }
    let width = boxes.iter().map(|it| it.left + it.width).fold(0.0, f64::max);
    Layout { boxes, below, width, height: (bottom - ROW_GAP).max(0.0) }
}

fn size(brick: &Brick, is_later: bool) -> Box {
    let tag = if brick.is_new { 4 } else { 0 };
    let details = brick.details.iter().map(|detail| text(detail, is_later).chars().count());
    let properties = brick.properties.iter().map(|text| text.chars().count());
    let longest = details.chain(properties).chain([brick.name.chars().count() + tag]).max();
    let lines = brick.details.len() + brick.properties.len() + 1;
    // Details have a box of their own within the brick's.
    let borders = if brick.details.is_empty() { PADDING } else { 2.0 * PADDING };
    Box {
        left: 0.0,
        bottom: 0.0,
        width: (longest.unwrap_or(0) as f64).mul_add(CHARACTER, 2.0 * PADDING),
        height: (lines as f64).mul_add(LINE, borders),
    }
}

/// Moves each row towards the middle of what its bricks stand on, and of what stands on them.
fn align(below: &[Vec<usize>], rows: &[Vec<usize>], boxes: &mut [Box]) {
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); below.len()];
    for (upper, lower) in below.iter().enumerate() {
        for lower in lower {
            above[*lower].push(upper);
        }
    }
    for sweep in 0..SWEEPS {
        let upwards = sweep % 2 == 0;
        let order: Vec<&Vec<usize>> = match upwards {
            true => rows.iter().skip(1).collect(),
            false => rows.iter().rev().skip(1).collect(),
        };
        for row in order {
            let wanted = row.iter().map(|index| {
                let others = if upwards { &below[*index] } else { &above[*index] };
                let sum: f64 = others.iter().map(|other| boxes[*other].centre()).sum();
                match others.len() {
                    0 => boxes[*index].left,
                    count => sum / count as f64 - boxes[*index].width / 2.0,
                }
            });
            let wanted: Vec<f64> = wanted.collect();
            for (index, left) in row.iter().zip(spread(row, &wanted, boxes)) {
                boxes[*index].left = left;
            }
        }
    }
}

/// Positions without overlap: the mean of those pushed to the right and those pushed to the left.
fn spread(row: &[usize], wanted: &[f64], boxes: &[Box]) -> Vec<f64> {
    let width = |position: usize| boxes[row[position]].width;
    let mut right = wanted.to_vec();
    for position in 1..row.len() {
        right[position] = right[position].max(right[position - 1] + width(position - 1) + GAP);
    }
    let mut left = wanted.to_vec();
    for position in (0..row.len().saturating_sub(1)).rev() {
        left[position] = left[position].min(left[position + 1] - width(position) - GAP);
    }
    right.iter().zip(left).map(|(right, left)| f64::midpoint(*right, left)).collect()
}

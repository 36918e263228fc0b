//! Places for bricks: each above those that it stands on, no two in one, and all within the width of a page where they can be.

use super::block::{Block, Homes};
use super::brick::{Brick, Detail};
use super::part::{self, Part};

/// The width of a character of 13 pixels.
pub(super) const CHARACTER: f64 = 8.0;
pub(super) const LINE: f64 = 18.0;
/// Between the text and the border of a brick.
pub(super) const PADDING: f64 = 10.0;
/// Between two parts of a stack that no line connects.
const BETWEEN: f64 = 40.0;
/// A sheet of paper across has place for it, and a browser beside another window.
pub(super) const PAGE: f64 = 1_036.0;

/// A rectangle; `bottom` is the distance from the picture's bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Box {
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The places of bricks, frames and lines, from the left border and the bottom.
pub(super) struct Layout {
    /// In the order of the bricks.
    pub(super) boxes: Vec<Box>,
    pub(super) frames: Vec<Box>,
    /// Grouped by their lower end.
    pub(super) lines: Vec<Vec<Way>>,
    pub(super) size: Size,
}

/// A line down, across and down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) from: (f64, f64),
    pub(super) track: f64,
    pub(super) to: (f64, f64),
}

/// The text of an address or a route, with the interface that it moves from or to.
pub(super) fn text(detail: &Detail, is_later: bool) -> String {
    match &detail.other {
        Some(other) if is_later => format!("{} \u{2190} {other}", detail.text),
        Some(other) => format!("{} \u{2192} {other}", detail.text),
        None => detail.text.clone(),
    }
}

/// Folded where it would be wider than `page`.
pub(super) fn layout(bricks: &[Brick], is_later: bool, page: f64) -> Layout {
    let sizes: Vec<Size> = bricks.iter().map(|brick| size(brick, is_later)).collect();
    let homes = Homes::of(bricks, &sizes);
    let parts =
        part::connected(bricks, &homes).into_iter().map(|members| fitting(&homes, &members, page));
    let mut all = Layout {
        boxes: vec![Box { left: 0.0, bottom: 0.0, width: 0.0, height: 0.0 }; bricks.len()],
        frames: Vec::new(),
        lines: Vec::new(),
        size: Size { width: 0.0, height: 0.0 },
    };
    // From the bottom, so that the first parts are at the top.
    for row in pages(parts.collect(), page).into_iter().rev() {
        let above = if all.size.height > 0.0 { all.size.height + BETWEEN } else { 0.0 };
        let mut left = 0.0;
        for part in row {
            let Size { width, height } = part.size;
            all.add(part, left, above);
            left += width + BETWEEN;
            all.size.height = all.size.height.max(above + height);
        }
        all.size.width = all.size.width.max(left - BETWEEN);
    }
    all
}

/// Rows of parts, none wider than a page if it has more than one. Cards and bonds alone come last, beside the others.
fn pages(mut parts: Vec<Part>, page: f64) -> Vec<Vec<Part>> {
    parts.sort_by_key(|part| part.lines.is_empty());
    let mut rows: Vec<(f64, Vec<Part>)> = Vec::new();
    for part in parts {
        let needed = BETWEEN + part.size.width;
        match rows.iter_mut().rev().take(MAX_ROWS).rev().find(|(taken, _)| taken + needed <= page) {
            Some((taken, row)) => {
                *taken += needed;
                row.push(part);
            }
            None => rows.push((part.size.width, vec![part])),
        }
    }
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Room is looked for in so many rows.
const MAX_ROWS: usize = 8;

/// The numbers of columns that are tried until a part fits the page.
const COLUMNS: [usize; 6] = [8, 6, 4, 3, 2, 1];

fn fitting(homes: &Homes<'_>, members: &[usize], page: f64) -> Part {
    let blocks = |columns: usize| -> Vec<Block> {
        members.iter().map(|index| homes.block(*index, columns)).collect()
    };
    let mut part = part::placed(&blocks(COLUMNS[0]), homes);
    for columns in COLUMNS {
        if part.size.width <= page {
            break;
        }
        part = part::placed(&part::folded(blocks(columns), columns), homes);
    }
    part
}

impl Layout {
    fn add(&mut self, part: Part, left: f64, bottom: f64) {
        let moved = |it: Box| Box { left: it.left + left, bottom: it.bottom + bottom, ..it };
        for (index, it) in part.boxes {
            self.boxes[index] = moved(it);
        }
        self.frames.extend(part.frames.into_iter().map(moved));
        let point = |(x, y): (f64, f64)| (x + left, y + bottom);
        let way =
            |it: Way| Way { from: point(it.from), track: it.track + bottom, to: point(it.to) };
        self.lines.extend(part.lines.into_iter().map(|net| net.into_iter().map(way).collect()));
    }
}

fn size(brick: &Brick, is_later: bool) -> Size {
    let tag = brick.mark.map_or(0, |mark| mark.word().len() + 1);
    let details = brick.details.iter().map(|detail| text(detail, is_later).chars().count());
    let properties = brick.properties.iter().map(|text| text.chars().count());
    let longest = details.chain(properties).chain([brick.name.chars().count() + tag]).max();
    let lines = brick.details.len() + brick.properties.len() + 1;
    // Details have a box of their own within the brick's.
    let borders = if brick.details.is_empty() { PADDING } else { 2.0 * PADDING };
    Size {
        width: (longest.unwrap_or(0) as f64).mul_add(CHARACTER, 2.0 * PADDING),
        height: (lines as f64).mul_add(LINE, borders),
    }
}

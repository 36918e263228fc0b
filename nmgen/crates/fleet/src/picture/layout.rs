//! Places for bricks, by one rule: a controller is above its own ports in a frame with them. What stands on an interface is in a
//! row above it, with one line between.

use super::stack::{Brick, outermost};

/// The width of a character of 13 pixels.
pub(super) const CHARACTER: f64 = 8.0;
pub(super) const LINE: f64 = 18.0;
/// Between the text and the border of a brick.
pub(super) const PADDING: f64 = 10.0;
/// A sheet of paper across has place for it, and a browser beside another window.
pub(super) const PAGE: f64 = 1_036.0;
/// Between two parts of a stack that no line connects.
const BETWEEN: f64 = 40.0;
/// Within a frame: to its border, and between two members.
const INSET: f64 = 8.0;
/// Between two neighbours of a row, and between a row and what it stands on.
const GAP: f64 = 24.0;
const ROW_GAP: f64 = 34.0;
/// A line to the side by less than this is straight.
const NEARLY_STRAIGHT: f64 = 24.0;

/// A rectangle; `bottom` is the distance from the picture's bottom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rectangle {
    pub(super) left: f64,
    pub(super) bottom: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Size {
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A line down, across and down.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    pub(super) from: (f64, f64),
    pub(super) track: f64,
    pub(super) to: (f64, f64),
}

/// The places of bricks, frames and lines, from the left border and the bottom.
#[derive(Default)]
pub(super) struct Layout {
    /// With the number of the brick; a controller is before its ports.
    pub(super) bricks: Vec<(usize, Rectangle)>,
    pub(super) frames: Vec<Rectangle>,
    /// Grouped by their lower end.
    pub(super) lines: Vec<Vec<Way>>,
    pub(super) size: Size,
    /// The start of the line to the base.
    foot: Option<(f64, f64)>,
}

/// Within the width of a page, where one brick allows it.
pub(super) fn layout(bricks: &[Brick], page: f64) -> Layout {
    let (mut above, mut is_based) = (vec![Vec::new(); bricks.len()], vec![false; bricks.len()]);
    for (index, brick) in bricks.iter().enumerate() {
        if let Some(base) = brick.base {
            let upper = outermost(bricks, index);
            above[outermost(bricks, base)].push(upper);
            is_based[upper] = true;
        }
    }
    let towers = Towers { bricks, above, page };
    let ground =
        (0..bricks.len()).filter(|index| bricks[*index].frame.is_none() && !is_based[*index]);
    let mut parts: Vec<Layout> = ground.map(|index| towers.tower(index)).collect();
    // Cards and bonds alone come last, beside the others.
    parts.sort_by_key(|part| part.lines.is_empty());
    let mut rows: Vec<(f64, Vec<Layout>)> = Vec::new();
    for part in parts {
        let needed = BETWEEN + part.size.width;
        match rows.iter_mut().find(|(taken, _)| *taken + needed <= page + BETWEEN) {
            Some((taken, row)) => {
                *taken += needed;
                row.push(part);
            }
            None => rows.push((needed, vec![part])),
        }
    }
    let mut whole = Layout::default();
    for (_, row) in rows.into_iter().rev() {
        let bottom = if whole.size.height > 0.0 { whole.size.height + BETWEEN } else { 0.0 };
        whole.add_row(row, (0.0, bottom), BETWEEN);
    }
    whole.bricks.sort_by_key(|(index, _)| *index);
    whole
}

/// The bricks, and what stands on each of them.
struct Towers<'a> {
    bricks: &'a [Brick],
    above: Vec<Vec<usize>>,
    page: f64,
}

impl Towers<'_> {
    /// A brick with its ports, and all that stands on it: in a row, or in a frame where the row would be wider than a page.
    fn tower(&self, index: usize) -> Layout {
        let block = self.block(index);
        let mut uppers: Vec<Layout> =
            self.above[index].iter().map(|upper| self.tower(*upper)).collect();
        if uppers.is_empty() {
            return block;
        }
        let width: f64 = uppers.iter().map(|upper| upper.size.width + GAP).sum::<f64>() - GAP;
        if uppers.len() > 1 && width > self.page {
            uppers = vec![framed(None, uppers, self.page)];
        }
        let mut feet = Vec::new();
        let mut left = 0.0;
        for upper in &uppers {
            let (x, y) = upper.foot.unwrap_or((upper.size.width / 2.0, 0.0));
            feet.push((left + x, y));
            left += upper.size.width + GAP;
        }
        let middle = feet.iter().map(|foot| foot.0).sum::<f64>() / feet.len() as f64;
        let near = feet.iter().map(|foot| foot.0).find(|x| (x - middle).abs() < NEARLY_STRAIGHT);
        // The base is below the middle of the lines, and both start at the left border or right of it.
        let base = (near.unwrap_or(middle) - block.size.width / 2.0).round();
        let (left, base) = ((-base).max(0.0), base.max(0.0));
        let Size { width, height } = block.size;
        let end = (base + width / 2.0, height);
        let track = height + ROW_GAP / 2.0;
        let way =
            |(x, y): (f64, f64)| Way { from: (left + x, height + ROW_GAP + y), track, to: end };
        let mut tower = Layout::default();
        tower.lines.push(feet.into_iter().map(way).collect());
        tower.add_row(uppers, (left, height + ROW_GAP), GAP);
        tower.foot = block.foot.map(|(x, y)| (base + x, y));
        tower.add(block, base, 0.0);
        tower
    }

    /// A brick, in a frame with its own ports.
    fn block(&self, index: usize) -> Layout {
        let brick = &self.bricks[index];
        let size = size(brick);
        let ports = brick.below.iter().filter(|port| self.bricks[**port].frame == Some(index));
        let ports: Vec<Layout> = ports.map(|port| self.block(*port)).collect();
        let mut block = match ports.is_empty() {
            true => Layout::one(index, size),
            false => framed(Some((index, size)), ports, self.page),
        };
        if brick.base.is_some() {
            block.foot = Some((block.size.width / 2.0, 0.0));
        }
        block
    }
}

/// Members in as few rows as the page allows, below their controller. The line to the base starts in the last row.
fn framed(head: Option<(usize, Size)>, mut members: Vec<Layout>, page: f64) -> Layout {
    let row: f64 = members.iter().map(|member| member.size.width + INSET).sum();
    if row + INSET > page {
        members.sort_by_key(|member| member.foot.is_some());
    }
    let widest = |column: usize, columns: usize| {
        let column = members.iter().skip(column).step_by(columns);
        column.map(|member| member.size.width).fold(0.0, f64::max)
    };
    let gaps = |columns: usize| INSET * columns.saturating_sub(1) as f64;
    let grid = |rows: usize| -> Vec<f64> {
        let columns = members.len().div_ceil(rows);
        (0..columns).map(|column| widest(column, columns)).collect()
    };
    let width = |widths: &[f64]| widths.iter().sum::<f64>() + gaps(widths.len());
    let mut grids = (1..members.len()).map(grid);
    let fitting = grids.find(|grid| width(grid) + 2.0 * INSET <= page);
    let mut widths = fitting.unwrap_or_else(|| grid(members.len()));
    let missing = (head.map_or(0.0, |(_, size)| size.width) - width(&widths)).max(0.0);
    let columns = widths.len();
    widths.iter_mut().for_each(|width| *width += missing / columns as f64);
    let inner = width(&widths);

    let mut rows: Vec<Vec<Layout>> = Vec::new();
    for (at, member) in members.into_iter().enumerate() {
        let member = member.widened(widths[at % columns]);
        match rows.last_mut() {
            Some(row) if row.len() < columns => row.push(member),
            _ => rows.push(vec![member]),
        }
    }
    let mut frame = Layout::default();
    let mut bottom = INSET;
    for row in rows.into_iter().rev() {
        frame.add_row(row, (INSET, bottom), INSET);
        bottom = frame.size.height + INSET;
    }
    if let Some((index, Size { height, .. })) = head {
        let head = Layout::one(index, Size { width: inner, height });
        frame.add(head, INSET, bottom);
        bottom += height + INSET;
    } else {
        // A line for all of them.
        frame.foot = None;
    }
    frame.size = Size { width: inner + 2.0 * INSET, height: bottom };
    let Size { width, height } = frame.size;
    frame.frames.insert(0, Rectangle { left: 0.0, bottom: 0.0, width, height });
    frame
}

impl Layout {
    fn one(index: usize, size: Size) -> Self {
        let Size { width, height } = size;
        let whole = Rectangle { left: 0.0, bottom: 0.0, width, height };
        Self { bricks: vec![(index, whole)], size, ..Self::default() }
    }

    /// Adds layouts side by side, and takes their line to the base.
    fn add_row(&mut self, row: Vec<Self>, (mut left, bottom): (f64, f64), gap: f64) {
        for member in row {
            let width = member.size.width;
            self.foot = member.foot.map(|(x, y)| (x + left, y + bottom)).or(self.foot);
            self.add(member, left, bottom);
            left += width + gap;
        }
    }

    fn add(&mut self, other: Self, left: f64, bottom: f64) {
        let moved = |rectangle: Rectangle| Rectangle {
            left: rectangle.left + left,
            bottom: rectangle.bottom + bottom,
            ..rectangle
        };
        let point = |(x, y): (f64, f64)| (x + left, y + bottom);
        let way =
            |way: Way| Way { from: point(way.from), track: way.track + bottom, to: point(way.to) };
        self.bricks
            .extend(other.bricks.into_iter().map(|(index, rectangle)| (index, moved(rectangle))));
        self.frames.extend(other.frames.into_iter().map(moved));
        let lines = other.lines.into_iter();
        self.lines.extend(lines.map(|ways| ways.into_iter().map(way).collect()));
        self.size.width = self.size.width.max(left + other.size.width);
        self.size.height = self.size.height.max(bottom + other.size.height);
    }

    /// Alone in its column, a brick is as wide as that.
    fn widened(mut self, width: f64) -> Self {
        if let [(_, only)] = &mut self.bricks[..] {
            only.width = width;
            self.size.width = width;
            self.foot = self.foot.map(|(_, y)| (width / 2.0, y));
        }
        self
    }
}

fn size(brick: &Brick) -> Size {
    let tag = brick.tag();
    let tag = if tag.is_empty() { 0 } else { tag.len() + 1 };
    let details = brick.details.iter().map(|detail| detail.shown().chars().count());
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

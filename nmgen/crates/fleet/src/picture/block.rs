//! Blocks: a controller and the ports that are its own in one frame, or the interfaces on one base in one.

use super::brick::Brick;
use super::layout::{Box, Size};

/// Within a frame: to its border, and between two members.
const INSET: f64 = 8.0;
/// Frames within frames; real ones have two (a bridge, a bond, its ports).
const MAX_NEST: usize = 4;

/// One or more bricks that stand together.
pub(super) struct Block {
    /// From the block's left border and bottom; a controller is before its ports.
    pub(super) bricks: Vec<(usize, Box)>,
    pub(super) frames: Vec<Box>,
    pub(super) size: Size,
    pub(super) lines: Vec<Line>,
}

/// The upper end of a line to a brick of another block.
pub(super) struct Line {
    pub(super) x: f64,
    pub(super) bottom: f64,
    /// The way that the end can be moved to either side.
    pub(super) room: f64,
    pub(super) to: usize,
}

/// The bricks by the controller whose frame they are in.
pub(super) struct Homes<'a> {
    bricks: &'a [Brick],
    sizes: &'a [Size],
    pub(super) home: Vec<Option<usize>>,
}

impl<'a> Homes<'a> {
    pub(super) fn of(bricks: &'a [Brick], sizes: &'a [Size]) -> Self {
        let mut above: Vec<Vec<usize>> = vec![Vec::new(); bricks.len()];
        for (upper, brick) in bricks.iter().enumerate() {
            for &lower in &brick.below {
                above[lower].push(upper);
            }
        }
        let home = |index: usize| match above[index][..] {
            [only] if bricks[only].ports.contains(&index) => Some(only),
            _ => None,
        };
        let homes: Vec<Option<usize>> = (0..bricks.len()).map(home).collect();
        // In a circle there is no outermost frame.
        let is_deep = |index: &usize| {
            let outwards = std::iter::successors(Some(*index), |inner| homes[*inner]);
            outwards.take(MAX_NEST + 2).count() > MAX_NEST + 1
        };
        let home = (0..bricks.len()).map(|index| homes[index].filter(|_| !is_deep(&index)));
        Self { bricks, sizes, home: home.collect() }
    }

    /// The outermost brick whose frame this one is in.
    pub(super) fn outermost(&self, index: usize) -> usize {
        self.home[index].map_or(index, |home| self.outermost(home))
    }

    /// A brick with the frame of its ports, if it has own ones; no row has more than `columns` of them.
    pub(super) fn block(&self, index: usize, columns: usize) -> Block {
        let is_own = |lower: &&usize| self.home[**lower] == Some(index);
        let own: Vec<Block> = self.bricks[index]
            .below
            .iter()
            .filter(is_own)
            .map(|it| self.block(*it, columns))
            .collect();
        let size = self.sizes[index];
        let mut block = match own.is_empty() {
            true => Block::one(index, size),
            false => Block::framed(Some((index, size)), own, columns),
        };
        let (x, room) = (block.size.width / 2.0, block.size.width / 2.0 - INSET);
        for &to in self.bricks[index].below.iter().filter(|lower| !is_own(lower)) {
            block.lines.push(Line { x, bottom: 0.0, room, to });
        }
        block
    }
}

impl Block {
    fn one(index: usize, size: Size) -> Self {
        let whole = Box { left: 0.0, bottom: 0.0, width: size.width, height: size.height };
        Self { bricks: vec![(index, whole)], frames: Vec::new(), size, lines: Vec::new() }
    }

    /// Blocks that stand on one brick in a frame with one line.
    pub(super) fn shelf(mut members: Vec<Self>, to: usize, columns: usize) -> Self {
        members.iter_mut().for_each(|member| member.lines.clear());
        let mut shelf = Self::framed(None, members, columns);
        let middle = shelf.size.width / 2.0;
        shelf.lines = vec![Line { x: middle, bottom: 0.0, room: middle - INSET, to }];
        shelf
    }

    /// Members in rows below their controller. Lines go down from the last row alone.
    fn framed(head: Option<(usize, Size)>, members: Vec<Self>, columns: usize) -> Self {
        let mut rows = rows(members, columns);
        let count = rows.iter().map(Vec::len).max().unwrap_or(0);
        let widest = |column: usize| {
            let members = rows.iter().filter_map(|row| row.get(column));
            members.map(|member| member.size.width).fold(0.0, f64::max)
        };
        let mut widths: Vec<f64> = (0..count).map(widest).collect();
        let gaps = INSET * count.saturating_sub(1) as f64;
        let wanted = head.map_or(0.0, |(_, size)| size.width) - gaps;
        let missing = (wanted - widths.iter().sum::<f64>()).max(0.0);
        widths.iter_mut().for_each(|width| *width += missing / count as f64);
        let inner = widths.iter().sum::<f64>() + gaps;

        let mut block = Self::one(0, Size { width: inner + 2.0 * INSET, height: 0.0 });
        block.bricks.clear();
        let mut bottom = INSET;
        for row in rows.iter_mut().rev() {
            let height = row.iter().map(|member| member.size.height).fold(0.0, f64::max);
            let mut left = INSET;
            for (member, width) in row.drain(..).zip(&widths) {
                block.add(member.widened(*width), left, bottom);
                left += width + INSET;
            }
            bottom += height + INSET;
        }
        if let Some((index, Size { height, .. })) = head {
            let whole = Box { left: INSET, bottom, width: inner, height };
            block.bricks.insert(0, (index, whole));
            bottom += height + INSET;
        }
        block.size.height = bottom;
        let Size { width, height } = block.size;
        block.frames.insert(0, Box { left: 0.0, bottom: 0.0, width, height });
        block
    }

    fn add(&mut self, member: Self, left: f64, bottom: f64) {
        let moved = |it: Box| Box { left: it.left + left, bottom: it.bottom + bottom, ..it };
        self.bricks.extend(member.bricks.into_iter().map(|(index, it)| (index, moved(it))));
        self.frames.extend(member.frames.into_iter().map(moved));
        let lines = member.lines.into_iter();
        self.lines.extend(lines.map(|it| Line {
            x: it.x + left,
            bottom: it.bottom + bottom,
            ..it
        }));
    }

    /// Alone in its column, a brick is as wide as that.
    fn widened(mut self, width: f64) -> Self {
        if let [(_, only)] = &mut self.bricks[..] {
            only.width = width;
            self.size.width = width;
            for line in &mut self.lines {
                (line.x, line.room) = (width / 2.0, width / 2.0 - INSET);
            }
        }
        self
    }
}

fn rows(members: Vec<Block>, columns: usize) -> Vec<Vec<Block>> {
    if members.len() <= columns {
        return vec![members];
    }
    let (last, others): (Vec<Block>, Vec<Block>) =
        members.into_iter().partition(|member| !member.lines.is_empty());
    let mut rows = Vec::new();
    for member in others {
        match rows.last_mut() {
            Some(row) if Vec::len(row) < columns => row.push(member),
            _ => rows.push(vec![member]),
        }
    }
    rows.extend(Some(last).filter(|last| !last.is_empty()));
    rows
}

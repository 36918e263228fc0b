//! The picture as SVG: in the reader's colours, light or dark; on paper light.

use nmgen_document::format::printable;
use svg::Document;
use svg::node::element::{Group, Path, Rectangle, Style, Text, Title};

use super::brick::{Brick, Stack};
use super::layout::{self, Box, CHARACTER, LINE, Layout, PADDING, ROW_GAP, layout};

const STYLE: &str = include_str!("style.css");
/// Around the picture, and between two stages.
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 64.0;
const BORDER: f64 = 1.5;
/// The height of a title.
const TITLE: f64 = 26.0;

/// One row of stacks a host, one below the other.
pub(super) fn svg(rows: &[Vec<Stack>]) -> String {
    let (mut top, mut right) = (MARGIN, 0.0_f64);
    let mut groups = Vec::new();
    for row in rows {
        let (group, width, height) = stacks(row, top);
        groups.push(group);
        (top, right) = (top + height + MARGIN + ROW_GAP, right.max(width));
    }
    let (width, height) = (right + MARGIN, (top - ROW_GAP).max(MARGIN));
    let names: Vec<&str> =
        rows.iter().flatten().take(MAX_NAMES).map(|stack| stack.title.as_str()).collect();
    let mut document = Document::new()
        .set("viewBox", (0, 0, width as i64, height as i64))
        .set("width", width as i64)
        .set("height", height as i64)
        .set("role", "img")
        .add(Title::new(format!("Network of {}", unique(&names).join(", "))))
        .add(Style::new(STYLE))
        .add(rectangle("page", 0.0, 0.0, width, height));
    for group in groups {
        document = document.add(group);
    }
    format!("{document}\n")
}

/// A title does not list a fleet.
const MAX_NAMES: usize = 10;

fn unique<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let mut names = names.to_vec();
    names.dedup();
    names
}

/// The stages of a host, with their lowest rows on one line; also the right border and the height.
fn stacks(stacks: &[Stack], top: f64) -> (Group, f64, f64) {
    let layouts: Vec<Layout> = stacks
        .iter()
        .enumerate()
        .map(|(position, stack)| layout(&stack.bricks, position > 0))
        .collect();
    let header = |stack: &Stack| {
        TITLE + LINE * (stack.rest.len() + usize::from(stack.stage.is_some())) as f64 + PADDING
    };
    let headers = stacks.iter().map(header).fold(0.0, f64::max);
    let bottom = top + headers + layouts.iter().map(|it| it.height).fold(0.0, f64::max);
    let (mut group, mut left) = (Group::new(), MARGIN);
    for (position, (stack, layout)) in stacks.iter().zip(&layouts).enumerate() {
        let widest = title_width(stack).max(layout.width);
        group = head(group, stack, left, top);
        group = edges(group, stack, layout, left, bottom);
        for (brick, it) in stack.bricks.iter().zip(&layout.boxes) {
            group = group.add(self::brick(brick, *it, left, bottom, position > 0));
        }
        left += widest + BETWEEN;
    }
    (group, left - BETWEEN, bottom - top)
}

fn title_width(stack: &Stack) -> f64 {
    let title = stack.title.chars().count() as f64 * CHARACTER * 1.25;
    let rest = stack.rest.iter().map(|line| line.chars().count() as f64 * CHARACTER);
    rest.fold(title, f64::max)
}

fn head(group: Group, stack: &Stack, left: f64, top: f64) -> Group {
    let mut group = group.add(text("title", &stack.title, left, top + LINE));
    let mut y = top + TITLE;
    if let Some(stage) = stack.stage {
        group = group.add(text("stage", stage, left, y + LINE - PADDING / 2.0));
        y += LINE;
    }
    for line in &stack.rest {
        group = group.add(text("rest", line, left, y + LINE - PADDING / 2.0));
        y += LINE;
    }
    group
}

/// From the lower border of each brick to the upper border of those below it.
fn edges(mut group: Group, stack: &Stack, layout: &Layout, left: f64, bottom: f64) -> Group {
    for (index, (upper, below)) in layout.boxes.iter().zip(&layout.below).enumerate() {
        let is_line = index >= stack.bricks.len();
        for lower in below.iter().map(|lower| layout.boxes[*lower]) {
            let (from, to) = (bottom - upper.bottom, bottom - lower.bottom - lower.height);
            let middle = (from + ROW_GAP / 2.0).round();
            let (start, end) = (left + upper.centre().round(), left + lower.centre().round());
            // A line crosses its row first.
            let top = if is_line { from - upper.height } else { from };
            let way = format!("M{start} {top}V{middle}H{end}V{to}");
            group = group.add(Path::new().set("class", "edge").set("d", way));
        }
    }
    group
}

/// Addresses and routes above, name and type below.
fn brick(brick: &Brick, it: Box, left: f64, bottom: f64, is_later: bool) -> Group {
    let class = match (brick.is_new, brick.is_ghost) {
        (true, _) => "new",
        (false, true) => "ghost",
        (false, false) => "old",
    };
    let (x, top) = (left + it.left, bottom - it.bottom - it.height);
    let mut group = Group::new().set("class", class);
    group = group.add(rectangle("brick", x, top, it.width, it.height).set("rx", 4));
    let mut y = top;
    if !brick.details.is_empty() {
        let height = LINE * brick.details.len() as f64 + PADDING;
        // Within the brick's border.
        let inner = rectangle("details", x + BORDER, top + BORDER, it.width - 2.0 * BORDER, height);
        group = group.add(inner.set("rx", 3));
        for detail in &brick.details {
            y += LINE;
            let class = if detail.other.is_some() { "moved" } else { "detail" };
            group = group.add(text(class, &layout::text(detail, is_later), x + PADDING, y));
        }
        y += PADDING;
    }
    y += LINE;
    group = group.add(text("name", &brick.name, x + PADDING, y));
    if brick.is_new {
        let end = it.width - PADDING - 3.0 * CHARACTER;
        group = group.add(text("tag", "new", x + end, y));
    }
    for property in &brick.properties {
        y += LINE;
        group = group.add(text("property", property, x + PADDING, y));
    }
    group
}

fn rectangle(class: &str, x: f64, y: f64, width: f64, height: f64) -> Rectangle {
    let rectangle = Rectangle::new().set("class", class).set("x", x).set("y", y);
    rectangle.set("width", width).set("height", height)
}

fn text(class: &str, content: &str, x: f64, y: f64) -> Text {
    Text::new(xml(content)).set("class", class).set("x", x).set("y", y)
}

/// Without the two characters that control no terminal and that XML has not; the library escapes the rest.
fn xml(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

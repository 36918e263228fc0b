//! The picture as SVG: in the reader's colours, light or dark; on paper light.

use std::collections::HashSet;

use nmgen_document::format::printable;
use svg::Document;
use svg::node::element::{Group, Path, Rectangle, Style, Text, Title};

use super::brick::{Brick, Stack};
use super::layout::{self, Box, CHARACTER, LINE, Layout, PADDING, PAGE, Size, Way, layout};

/// Around the picture, between two stages, and between two hosts.
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 64.0;
const BELOW: f64 = 58.0;
const BORDER: f64 = 1.5;
/// The height of a title.
const TITLE: f64 = 26.0;

/// One row of stacks a host, one below the other.
pub(super) fn svg(rows: &[Vec<Stack>], style: Option<&str>) -> String {
    let (mut top, mut right) = (MARGIN, 0.0_f64);
    let mut groups = Vec::new();
    for row in rows {
        let (group, size) = stacks(row, top);
        groups.push(group);
        (top, right) = (top + size.height + BELOW, right.max(size.width));
    }
    let (width, height) = (right + MARGIN, (top - BELOW + MARGIN).max(MARGIN));
    let mut names: Vec<&str> = rows.iter().flatten().map(|stack| stack.title.as_str()).collect();
    let mut known = HashSet::new();
    names.retain(|name| known.insert(*name));
    let mut document = Document::new()
        .set("viewBox", (0, 0, width as i64, height as i64))
        .set("width", width as i64)
        .set("height", height as i64)
        .set("role", "img")
        .add(Title::new(xml(&format!("Network of {}", names.join(", ")))));
    if let Some(style) = style {
        document = document.add(Style::new(style));
    }
    document =
        document.add(rectangle("page", Box { left: 0.0, bottom: 0.0, width, height }, height));
    for group in groups {
        document = document.add(group);
    }
    format!("{document}\n")
}

/// The stages of a host with their lowest rows on one line, or one below the other; also their right border and height.
fn stacks(stacks: &[Stack], top: f64) -> (Group, Size) {
    let mut layouts = layouts(stacks, PAGE);
    if width(stacks, &layouts) > BESIDE {
        let narrow = self::layouts(stacks, (BESIDE - BETWEEN) / 2.0);
        if width(stacks, &narrow) <= BESIDE {
            layouts = narrow;
        }
    }
    let size = |(stack, layout): (&Stack, &Layout)| Size {
        width: title_width(stack).max(layout.size.width),
        height: header(stack) + layout.size.height,
    };
    let sizes: Vec<Size> = stacks.iter().zip(&layouts).map(size).collect();
    let is_beside = width(stacks, &layouts) <= BESIDE;
    let headers = stacks.iter().map(header).fold(0.0, f64::max);
    let tallest = layouts.iter().map(|it| it.size.height).fold(0.0, f64::max);
    let (mut group, mut left, mut y) = (Group::new(), MARGIN, top);
    let mut whole = Size { width: 0.0, height: 0.0 };
    for (position, (stack, layout)) in stacks.iter().zip(&layouts).enumerate() {
        let height = if is_beside { headers + tallest } else { sizes[position].height };
        let place = Place { left, bottom: y + height, is_later: position > 0 };
        group = head(group, stack, left, y);
        group = self::stack(group, stack, layout, place);
        whole.width = whole.width.max(left + sizes[position].width);
        whole.height = y + height - top;
        match is_beside {
            true => left += sizes[position].width + BETWEEN,
            false => y += height + BELOW,
        }
    }
    (group, whole)
}

/// Two stages that are wider together are narrowed, or one below the other.
const BESIDE: f64 = 1.25 * PAGE;

fn layouts(stacks: &[Stack], page: f64) -> Vec<Layout> {
    let stages = stacks.iter().enumerate();
    stages.map(|(position, stack)| layout(&stack.bricks, position > 0, page)).collect()
}

/// Two stages side by side; one has no other beside it.
fn width(stacks: &[Stack], layouts: &[Layout]) -> f64 {
    let width = |(stack, layout): (&Stack, &Layout)| title_width(stack).max(layout.size.width);
    match stacks.len() {
        0 | 1 => 0.0,
        _ => stacks.iter().zip(layouts).map(width).map(|it| it + BETWEEN).sum::<f64>() - BETWEEN,
    }
}

/// A stack's left border and bottom, from the picture's top.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    bottom: f64,
    is_later: bool,
}

impl Place {
    fn of(self, it: Box) -> Box {
        Box { left: self.left + it.left, ..it }
    }
}

fn header(stack: &Stack) -> f64 {
    TITLE + LINE * (stack.rest.len() + usize::from(stack.stage.is_some())) as f64 + PADDING
}

/// Lines are over frames, and bricks over lines.
fn stack(mut group: Group, stack: &Stack, layout: &Layout, place: Place) -> Group {
    for frame in &layout.frames {
        group = group.add(rectangle("frame", place.of(*frame), place.bottom).set("rx", 8));
    }
    for lines in &layout.lines {
        let way: String = lines.iter().map(|way| self::way(way, place)).collect();
        // A line that crosses another one interrupts it.
        for class in ["halo", "edge"] {
            group = group.add(Path::new().set("class", class).set("d", way.as_str()));
        }
    }
    for (brick, it) in stack.bricks.iter().zip(&layout.boxes) {
        group = group.add(self::brick(brick, place.of(*it), place));
    }
    group
}

fn way(way: &Way, place: Place) -> String {
    let (x, y) = (|x: f64| place.left + x, |up: f64| place.bottom - up);
    let (start, end) = (x(way.from.0), x(way.to.0));
    match start == end {
        true => format!("M{start} {}V{}", y(way.from.1), y(way.to.1)),
        false => format!("M{start} {}V{}H{end}V{}", y(way.from.1), y(way.track), y(way.to.1)),
    }
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

/// Addresses and routes above, name and type below.
fn brick(brick: &Brick, it: Box, place: Place) -> Group {
    let class = match (brick.mark, brick.is_ghost) {
        (Some(mark), _) => mark.word(),
        (None, true) => "ghost",
        (None, false) => "old",
    };
    let (x, top) = (it.left, place.bottom - it.bottom - it.height);
    let mut group = Group::new().set("class", class);
    group = group.add(rectangle("brick", it, place.bottom).set("rx", 4));
    let mut y = top;
    if !brick.details.is_empty() {
        let height = LINE * brick.details.len() as f64 + PADDING;
        // Within the brick's border.
        let inner = Box {
            left: x + BORDER,
            bottom: it.bottom + it.height - BORDER - height,
            width: it.width - 2.0 * BORDER,
            height,
        };
        group = group.add(rectangle("details", inner, place.bottom).set("rx", 3));
        for detail in &brick.details {
            y += LINE;
            let class = if detail.other.is_some() { "moved" } else { "detail" };
            group = group.add(text(class, &layout::text(detail, place.is_later), x + PADDING, y));
        }
        y += PADDING;
    }
    y += LINE;
    group = group.add(text("name", &brick.name, x + PADDING, y));
    if let Some(mark) = brick.mark {
        let end = it.width - PADDING - mark.word().len() as f64 * CHARACTER;
        group = group.add(text("tag", mark.word(), x + end, y));
    }
    for property in &brick.properties {
        y += LINE;
        group = group.add(text("property", property, x + PADDING, y));
    }
    group
}

fn rectangle(class: &str, it: Box, bottom: f64) -> Rectangle {
    let rectangle = Rectangle::new().set("class", class).set("x", it.left);
    let rectangle = rectangle.set("y", bottom - it.bottom - it.height);
    rectangle.set("width", it.width).set("height", it.height)
}

fn text(class: &str, content: &str, x: f64, y: f64) -> Text {
    Text::new(xml(content)).set("class", class).set("x", x).set("y", y)
}

/// Without the two characters that control no terminal and that XML has not; the library escapes the rest.
fn xml(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

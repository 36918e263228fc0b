//! The picture as SVG: in the reader's colours, light or dark; on paper light.

use std::collections::HashSet;

use nmgen_document::format::printable;
use svg::Document;
use svg::node::element::{Group, Path, Rectangle as Shape, Style, Text, Title};

use super::layout::{self, CHARACTER, LINE, Layout, PADDING, PAGE, Rectangle, Size, Way, layout};
use super::stack::{Brick, Stack};

/// Around the picture, between two stages, and between two hosts.
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 64.0;
const BELOW: f64 = 58.0;
const BORDER: f64 = 1.5;
/// The height of a title.
const TITLE: f64 = 26.0;
/// The names of equal hosts in a line.
const NAMES: usize = 6;

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
    let stacks = rows.iter().flatten();
    let names = stacks.flat_map(|stack| [&stack.title].into_iter().chain(&stack.others));
    let mut names: Vec<&str> = names.map(String::as_str).collect();
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
    document = document.add(rectangle(
        "page",
        Rectangle { left: 0.0, bottom: 0.0, width, height },
        height,
    ));
    for group in groups {
        document = document.add(group);
    }
    format!("{document}\n")
}

/// Two stages that are wider together are narrowed, or one below the other.
const BESIDE: f64 = 1.25 * PAGE;

/// The stages of a host with their lowest rows on one line, or one below the other; also their right border and height.
fn stacks(stacks: &[Stack], top: f64) -> (Group, Size) {
    let heads: Vec<Head> = stacks.iter().map(Head::of).collect();
    let layouts = |page: f64| -> Vec<Layout> {
        let stages = stacks.iter().enumerate();
        stages.map(|(position, stack)| layout(&stack.bricks, position > 0, page)).collect()
    };
    let width = |(head, layout): (&Head, &Layout)| head.size.width.max(layout.size.width);
    let is_beside = |layouts: &Vec<Layout>| {
        let widths = heads.iter().zip(layouts).map(width);
        widths.sum::<f64>() + BETWEEN * stacks.len().saturating_sub(1) as f64 <= BESIDE
    };
    let beside = [PAGE, (BESIDE - BETWEEN) / 2.0].map(layouts).into_iter().find(is_beside);
    let is_beside = beside.is_some();
    let layouts = beside.unwrap_or_else(|| layouts(PAGE));
    let tallest = |heights: &mut dyn Iterator<Item = f64>| heights.fold(0.0, f64::max);
    let shared = tallest(&mut heads.iter().map(|head| head.size.height))
        + tallest(&mut layouts.iter().map(|layout| layout.size.height));
    let (mut group, mut left, mut y) = (Group::new(), MARGIN, top);
    let mut whole = Size::default();
    for (position, ((stack, head), layout)) in stacks.iter().zip(&heads).zip(&layouts).enumerate() {
        let height = if is_beside { shared } else { head.size.height + layout.size.height };
        let place = Place { left, bottom: y + height, is_later: position > 0 };
        group = head.drawn(group, left, y);
        group = self::stack(group, stack, layout, place);
        let width = width((head, layout));
        whole.width = whole.width.max(left + width);
        whole.height = y + height - top;
        match is_beside {
            true => left += width + BETWEEN,
            false => y += height + BELOW,
        }
    }
    (group, whole)
}

/// A stack's left border and bottom, from the picture's top.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    bottom: f64,
    is_later: bool,
}

impl Place {
    fn of(self, it: Rectangle) -> Rectangle {
        Rectangle { left: self.left + it.left, ..it }
    }
}

/// The lines above a stack, each with its class.
struct Head {
    lines: Vec<(&'static str, String)>,
    size: Size,
}

impl Head {
    fn of(stack: &Stack) -> Self {
        let mut lines = vec![("title", stack.title.clone())];
        let names = stack.others.chunks(NAMES).map(|names| ("rest", names.join(", ")));
        lines.extend(names);
        lines.extend(stack.stage.map(|stage| ("stage", stage.to_owned())));
        lines.extend(stack.rest.iter().map(|line| ("rest", line.clone())));
        let width = |(class, line): &(&str, String)| {
            let scale = if *class == "title" { 1.25 } else { 1.0 };
            line.chars().count() as f64 * CHARACTER * scale
        };
        let height = TITLE + LINE * (lines.len() - 1) as f64 + PADDING;
        let width = lines.iter().map(width).fold(0.0, f64::max);
        Self { lines, size: Size { width, height } }
    }

    fn drawn(&self, mut group: Group, left: f64, top: f64) -> Group {
        for (at, (class, line)) in self.lines.iter().enumerate() {
            let y = if at == 0 { LINE } else { TITLE + LINE * at as f64 - PADDING / 2.0 };
            group = group.add(text(class, line, left, top + y));
        }
        group
    }
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
    for (index, it) in &layout.bricks {
        group = group.add(brick(&stack.bricks[*index], place.of(*it), place));
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

/// Addresses and routes above, name and type below.
fn brick(brick: &Brick, it: Rectangle, place: Place) -> Group {
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
        let inner = Rectangle {
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

fn rectangle(class: &str, it: Rectangle, bottom: f64) -> Shape {
    let rectangle = Shape::new().set("class", class).set("x", it.left);
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

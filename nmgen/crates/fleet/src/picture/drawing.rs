//! The picture as SVG: in the reader's colours, light or dark; on paper light.

use std::collections::HashSet;

use nmgen_document::format::printable;
use svg::Document;
use svg::node::element::{Group, Path, Rectangle as Shape, Style, Text, Title};

use super::layout::{CHARACTER, LINE, Layout, PADDING, PAGE, Rectangle, Size, Way, layout};
use super::stack::{Brick, Stack};
use super::stages::Picture;

/// Around the picture, between two stages, and between two hosts.
const MARGIN: f64 = 24.0;
const BETWEEN: f64 = 64.0;
const BELOW: f64 = 58.0;
const BORDER: f64 = 1.5;
/// Around a picture on a page: half of the widest border.
const EDGE: f64 = 2.0;
const TITLE: f64 = 26.0;
/// The names of equal hosts in a line, and altogether.
const NAMES: usize = 6;
const MOST_NAMES: usize = 12;

/// All pictures, one below the other.
pub(super) fn svg(pictures: &[Picture], style: Option<&str>) -> String {
    let (mut top, mut right) = (MARGIN, 0.0_f64);
    let mut groups = Vec::new();
    for picture in pictures {
        let arranged = Arranged::of(&picture.0);
        let (mut left, mut y) = (MARGIN, top);
        let mut bottom = top;
        for (index, stack) in picture.0.iter().enumerate() {
            let (group, size) = arranged.drawn(index, stack, left, y);
            groups.push(group);
            (right, bottom) = (right.max(left + size.width), y + size.height);
            match arranged.shared {
                Some(_) => left += size.width + BETWEEN,
                None => y = bottom + BELOW,
            }
        }
        top = bottom + BELOW;
    }
    let size = Size { width: right + MARGIN, height: (top - BELOW + MARGIN).max(MARGIN) };
    document(pictures.iter().flat_map(|picture| &picture.0), size, style, groups)
}

/// Each stage of a picture on its own, with their lowest rows at one height.
pub(super) fn stages(picture: &Picture) -> Vec<String> {
    let arranged = Arranged::of(&picture.0);
    let stages = picture.0.iter().enumerate();
    let one = |(index, stack): (usize, &Stack)| {
        let (group, size) = arranged.drawn(index, stack, EDGE, EDGE);
        let (width, height) = (size.width + 2.0 * EDGE, size.height + 2.0 * EDGE);
        document([stack].into_iter(), Size { width, height }, None, vec![group])
    };
    stages.map(one).collect()
}

fn document<'s>(
    stacks: impl Iterator<Item = &'s Stack>,
    size: Size,
    style: Option<&str>,
    groups: Vec<Group>,
) -> String {
    let Size { width, height } = size;
    let names = stacks.flat_map(|stack| [&stack.title].into_iter().chain(&stack.others));
    let mut known = HashSet::new();
    let names: Vec<&str> = names.map(String::as_str).filter(|name| known.insert(*name)).collect();
    let mut document = Document::new()
        .set("viewBox", (0, 0, width.ceil() as i64, height.ceil() as i64))
        .set("width", width.ceil() as i64)
        .set("height", height.ceil() as i64)
        .set("role", "img")
        .add(Title::new(xml(&format!("Network of {}", listed(&names).join(", ")))));
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

/// The first names, and how many more there are.
fn listed(names: &[&str]) -> Vec<String> {
    let mut listed: Vec<String> =
        names.iter().take(MOST_NAMES).map(|name| (*name).to_owned()).collect();
    if names.len() > MOST_NAMES {
        listed.push(format!("{} more", names.len() - MOST_NAMES));
    }
    listed
}

/// Two stages that are wider together are narrowed, or one below the other.
const BESIDE: f64 = 1.25 * PAGE;

/// The stages of a host, side by side with their lowest rows on one line, or one below the other.
struct Arranged {
    heads: Vec<Head>,
    layouts: Vec<Layout>,
    /// The height of stages that are side by side.
    shared: Option<f64>,
}

impl Arranged {
    fn of(stacks: &[Stack]) -> Self {
        let heads: Vec<Head> = stacks.iter().map(Head::of).collect();
        let layouts = |page: f64| -> Vec<Layout> {
            stacks.iter().map(|stack| layout(&stack.bricks, page)).collect()
        };
        let width = |(head, layout): (&Head, &Layout)| head.size.width.max(layout.size.width);
        let beside = [PAGE, (BESIDE - BETWEEN) / 2.0].map(layouts).into_iter().find(|layouts| {
            let widths = heads.iter().zip(layouts).map(width);
            widths.sum::<f64>() + BETWEEN * stacks.len().saturating_sub(1) as f64 <= BESIDE
        });
        let tallest = |heights: &mut dyn Iterator<Item = f64>| heights.fold(0.0, f64::max);
        let shared = beside.as_ref().map(|layouts| {
            tallest(&mut heads.iter().map(|head| head.size.height))
                + tallest(&mut layouts.iter().map(|layout| layout.size.height))
        });
        Self { layouts: beside.unwrap_or_else(|| layouts(PAGE)), shared, heads }
    }

    /// Draws a stage; also its size.
    fn drawn(&self, index: usize, stack: &Stack, left: f64, top: f64) -> (Group, Size) {
        let (head, layout) = (&self.heads[index], &self.layouts[index]);
        let height = self.shared.unwrap_or(head.size.height + layout.size.height);
        let place = Place { left, bottom: top + height };
        let group = head.drawn(Group::new(), left, top);
        let width = head.size.width.max(layout.size.width);
        (self::stack(group, stack, layout, place), Size { width, height })
    }
}

/// A stack's left border and bottom, from the picture's top.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    bottom: f64,
}

impl Place {
    fn of(self, area: Rectangle) -> Rectangle {
        Rectangle { left: self.left + area.left, ..area }
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
        let others: Vec<&str> = stack.others.iter().map(String::as_str).collect();
        let others = listed(&others);
        let names = others.chunks(NAMES).map(|names| ("rest", names.join(", ")));
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
    for (index, area) in &layout.bricks {
        group = group.add(brick(&stack.bricks[*index], place.of(*area), place));
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
fn brick(brick: &Brick, area: Rectangle, place: Place) -> Group {
    let tag = brick.tag();
    let class = match (&*tag, brick.is_ghost) {
        ("", true) => "ghost",
        ("", false) => "old",
        (tag, _) => tag,
    };
    let (x, top) = (area.left, place.bottom - area.bottom - area.height);
    let mut group = Group::new().set("class", class);
    group = group.add(rectangle("brick", area, place.bottom).set("rx", 4));
    let mut y = top;
    if !brick.details.is_empty() {
        let height = LINE * brick.details.len() as f64 + PADDING;
        // Within the brick's border.
        let inner = Rectangle {
            left: x + BORDER,
            bottom: area.bottom + area.height - BORDER - height,
            width: area.width - 2.0 * BORDER,
            height,
        };
        group = group.add(rectangle("details", inner, place.bottom).set("rx", 3));
        for detail in &brick.details {
            y += LINE;
            let class = if detail.other.is_some() { "moved" } else { "detail" };
            group = group.add(text(class, &detail.shown(), x + PADDING, y));
        }
        y += PADDING;
    }
    y += LINE;
    group = group.add(text("name", &brick.name, x + PADDING, y));
    if !tag.is_empty() {
        let end = area.width - PADDING - tag.len() as f64 * CHARACTER;
        group = group.add(text("tag", &tag, x + end, y));
    }
    for property in &brick.properties {
        y += LINE;
        group = group.add(text("property", property, x + PADDING, y));
    }
    group
}

fn rectangle(class: &str, area: Rectangle, bottom: f64) -> Shape {
    let rectangle = Shape::new().set("class", class).set("x", area.left);
    let rectangle = rectangle.set("y", bottom - area.bottom - area.height);
    rectangle.set("width", area.width).set("height", area.height)
}

fn text(class: &str, content: &str, x: f64, y: f64) -> Text {
    Text::new(xml(content)).set("class", class).set("x", x).set("y", y)
}

/// Without the two characters that control no terminal and that XML has not; the library escapes the rest.
fn xml(text: &str) -> String {
    printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}")
}

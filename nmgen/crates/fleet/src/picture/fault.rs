//! The interfaces of a picture that findings are at.

use nmgen_core::interface;
use nmgen_document::diagnostic::{Diagnostic, Place, Severity};
use nmgen_document::text::{Position, Span};
use nmgen_document::{Document, Node};

use super::stack::Brick;

/// Marks the bricks that are at the places of findings: of an interface, or of a route over it.
pub(super) fn mark(bricks: &mut [Brick], document: &Document<'_>, findings: &[&Diagnostic]) {
    if findings.is_empty() {
        return;
    }
    let parts = parts(document);
    for finding in findings {
        for place in finding.places() {
            let Some(brick) = brick_at(&parts, place).and_then(|index| bricks.get_mut(index))
            else {
                continue;
            };
            brick.fault = match brick.fault {
                Some(Severity::Error) => brick.fault,
                _ => Some(finding.rule.severity),
            };
        }
    }
}

/// A position in a file, and within an encoded value there.
type Start = (Option<Position>, Option<Position>);

/// The start of each part of a document, in the order of places, and the brick that it is about.
struct Parts<'f> {
    file: &'f str,
    starts: Vec<(Start, Option<usize>)>,
}

fn parts<'d>(document: &'d Document<'_>) -> Parts<'d> {
    let interfaces = interface::all(&document.root);
    let named = |node: &Node<'_>| {
        let name = node.text_at("next-hop-interface")?;
        interfaces.iter().position(|node| {
            node.text_at("name") == Some(name) && node.text_at("type") != Some("ovs-bridge")
        })
    };
    let state = interface::state(&document.root);
    let mut starts = Vec::new();
    let mut add = |at: Position, brick| {
        starts.push((start(&document.place(Span { start: at, end: at })), brick));
    };
    for keys in [&["interfaces"][..], &["routes", "config"]] {
        let Some(list) = state.at(keys) else { continue };
        for (index, node) in list.items().iter().enumerate() {
            add(node.span.start, if keys.len() == 1 { Some(index) } else { named(node) });
        }
        add(list.span.end, None);
    }
    starts.sort();
    Parts { file: &document.source().name, starts }
}

fn start(place: &Place) -> Start {
    (
        place.position.as_ref().map(|excerpt| excerpt.start),
        place.decoded.as_ref().map(|excerpt| excerpt.start),
    )
}

fn brick_at(parts: &Parts<'_>, place: &Place) -> Option<usize> {
    if *place.file != *parts.file || place.position.is_none() {
        return None;
    }
    let after = parts.starts.partition_point(|(at, _)| *at <= start(place));
    parts.starts.get(after.checked_sub(1)?)?.1
}

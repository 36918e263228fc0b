//! The two stages of a host, and what moves between them.

use std::collections::HashMap;

use nmgen_core::show;
use nmgen_core::source::{Host, Stage};

use super::brick::{Brick, Stack};

const EARLY: &str = "in the initramfs";
const NODE: &str = "on the running node";

/// One row a host: its document, or both stages.
pub(super) fn stages(hosts: &[Host]) -> Vec<Vec<Stack>> {
    let drawn = || hosts.iter().filter(|host| host.document().is_some());
    let mut early: HashMap<Key<'_>, &Host> = HashMap::new();
    let mut later: HashMap<Key<'_>, &Host> = HashMap::new();
    for host in drawn().filter(|host| host.policy.is_none()) {
        let stage = if host.stage == Stage::Early { &mut early } else { &mut later };
        stage.entry(key(host)).or_insert(host);
    }
    let is = |it: Option<&&Host>, host: &Host| it.is_some_and(|it| std::ptr::eq(*it, host));
    let mut rows = Vec::new();
    for host in drawn() {
        let (before, after) = (early.get(&key(host)), later.get(&key(host)));
        let row = match (before, after) {
            (Some(_), Some(after)) if is(before, host) => pair(stack(host), stack(after)),
            // Drawn beside the early one.
            (Some(_), Some(_)) if is(after, host) => None,
            _ => stack(host).map(|own| vec![own]),
        };
        rows.extend(row);
    }
    rows
}

/// A host's cluster and name.
type Key<'h> = (Option<&'h str>, &'h str);

/// A host without a name is known by its file.
fn key(host: &Host) -> Key<'_> {
    (host.cluster.as_deref(), host.short_name().unwrap_or(&host.place.file))
}

fn stack(host: &Host) -> Option<Stack> {
    let document = host.document()?;
    Some(Stack::of(&show::title(host, document), document))
}

fn pair(early: Option<Stack>, later: Option<Stack>) -> Option<Vec<Stack>> {
    let (mut early, mut later) = (early?, later?);
    (early.stage, later.stage) = (Some(EARLY), Some(NODE));
    let moved = mark(&mut early.bricks, &mut later.bricks);
    mark_new(&early.bricks, &mut later.bricks);
    for (upper, line, to) in moved {
        if let Some(detail) = early.bricks[upper].details.get_mut(line) {
            detail.other = Some(to);
        }
    }
    Some(vec![early, later])
}

/// Marks the later stage's addresses and routes that were another interface's; returns where each was, and its new interface.
fn mark(early: &mut [Brick], later: &mut [Brick]) -> Vec<(usize, usize, String)> {
    let mut moved = Vec::new();
    for brick in later {
        for detail in &mut brick.details {
            let places = early.iter().enumerate().flat_map(|(index, other)| {
                let lines = other.details.iter().enumerate();
                lines
                    .filter(|(_, line)| is_same(&line.text, &detail.text))
                    .map(move |(at, _)| (index, at))
            });
            let places: Vec<(usize, usize)> = places.collect();
            let stays = places.iter().any(|(index, _)| early[*index].name == brick.name);
            if let (Some((index, line)), false) = (places.first(), stays) {
                detail.other = Some(early[*index].name.clone());
                moved.push((*index, *line, brick.name.clone()));
            }
        }
    }
    moved
}

/// A route may get a metric on its way.
fn is_same(early: &str, later: &str) -> bool {
    let rest = later.strip_prefix(early);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" metric "))
}

fn mark_new(early: &[Brick], later: &mut [Brick]) {
    for brick in later.iter_mut().filter(|brick| !brick.is_ghost) {
        brick.is_new = !early.iter().any(|it| it.name == brick.name && it.kind == brick.kind);
    }
}

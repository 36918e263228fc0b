//! The two stages of a host, and what moves between them.

use std::collections::HashMap;

use nmgen_core::show;
use nmgen_core::source::{Host, Stage};

use super::Row;
use super::brick::{Brick, Mark, Stack};

const EARLY: &str = "in the initramfs";
const NODE: &str = "on the running node";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// One row a host: its document, or both stages.
pub(super) fn stages(hosts: &[Host]) -> Vec<Row<'_>> {
    let mut early: HashMap<Key<'_>, &Host> = HashMap::new();
    let mut later: HashMap<Key<'_>, &Host> = HashMap::new();
    for host in hosts.iter().filter(|host| host.document().is_some() && host.policy.is_none()) {
        let stage = if host.stage == Stage::Early { &mut early } else { &mut later };
        stage.entry(key(host)).or_insert(host);
    }
    let is = |it: Option<&&Host>, host: &Host| it.is_some_and(|it| std::ptr::eq(*it, host));
    let mut rows = Vec::new();
    for host in hosts {
        let (before, after) = (early.get(&key(host)), later.get(&key(host)));
        let row = match (before, after) {
            (Some(_), Some(after)) if is(before, host) => {
                let stacks = pair(stack(host), stack(after)).unwrap_or_default();
                Row { hosts: vec![host, *after], stacks }
            }
            // Drawn beside the early one.
            (Some(_), Some(_)) if is(after, host) => continue,
            _ => Row { hosts: vec![host], stacks: stack(host).into_iter().collect() },
        };
        rows.push(row);
    }
    rows
}

/// A host without a name is known by its file; two clusters may have hosts of one name.
type Key<'h> = (Option<&'h str>, &'h str);

fn key(host: &Host) -> Key<'_> {
    (host.cluster.as_deref(), host.short_name().unwrap_or(&host.place.file))
}

/// Two states of a host side by side, or the one that there is.
pub(super) fn change<'h>(before: Option<&'h Host>, after: Option<&'h Host>) -> Row<'h> {
    let (mut old, mut new) = (before.and_then(stack), after.and_then(stack));
    if let (Some(old), Some(new)) = (&mut old, &mut new) {
        (old.stage, new.stage) = (Some(BEFORE), Some(AFTER));
        mark_moved(old, new);
        mark_only(&old.bricks, &mut new.bricks, Mark::New);
        mark_only(&new.bricks, &mut old.bricks, Mark::Gone);
        mark_changed(&old.bricks, &mut new.bricks);
    }
    Row {
        hosts: before.into_iter().chain(after).collect(),
        stacks: old.into_iter().chain(new).collect(),
    }
}

fn stack(host: &Host) -> Option<Stack> {
    let document = host.document()?;
    Some(Stack::of(&show::title(host, document), document))
}

fn pair(early: Option<Stack>, later: Option<Stack>) -> Option<Vec<Stack>> {
    let (mut early, mut later) = (early?, later?);
    (early.stage, later.stage) = (Some(EARLY), Some(NODE));
    mark_moved(&mut early, &mut later);
    mark_only(&early.bricks, &mut later.bricks, Mark::New);
    Some(vec![early, later])
}

/// Marks addresses and routes that another interface has then, on both sides.
fn mark_moved(early: &mut Stack, later: &mut Stack) {
    for (upper, line, to) in mark(&mut early.bricks, &mut later.bricks) {
        if let Some(detail) = early.bricks[upper].details.get_mut(line) {
            detail.other = Some(to);
        }
    }
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

fn is_same_interface(one: &Brick, other: &Brick) -> bool {
    one.name == other.name && one.kind == other.kind
}

fn mark_only(others: &[Brick], bricks: &mut [Brick], mark: Mark) {
    for brick in bricks.iter_mut().filter(|brick| !brick.is_ghost) {
        let is_there = others.iter().any(|it| is_same_interface(it, brick));
        brick.mark = Some(mark).filter(|_| !is_there);
    }
}

fn mark_changed(before: &[Brick], after: &mut [Brick]) {
    let lower = |bricks: &[Brick], brick: &Brick| -> Vec<String> {
        brick.below.iter().map(|index| bricks[*index].name.clone()).collect()
    };
    let below: Vec<Vec<String>> = after.iter().map(|brick| lower(after, brick)).collect();
    for (brick, below) in after.iter_mut().zip(below) {
        let Some(old) = before.iter().find(|it| is_same_interface(it, brick)) else { continue };
        let texts = |brick: &Brick| -> Vec<String> {
            brick.details.iter().map(|detail| detail.text.clone()).collect()
        };
        let is_same = old.properties == brick.properties
            && texts(old) == texts(brick)
            && lower(before, old) == below;
        brick.mark = Some(Mark::Changed).filter(|_| !is_same).or(brick.mark);
    }
}

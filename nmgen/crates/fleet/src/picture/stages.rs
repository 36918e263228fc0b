//! The two stages of a host, and what moves between them.

use std::collections::HashMap;

use nmgen_core::show;
use nmgen_core::source::{Host, Stage};
use nmgen_document::diagnostic::Diagnostic;

use super::stack::{Brick, Detail, Mark, Stack};
use super::{drawing, fault};
const EARLY: &str = "in the initramfs";
const NODE: &str = "on the running node";
const BEFORE: &str = "before";
const AFTER: &str = "after";

/// The stacks of a host, or of hosts that differ only in names and addresses: none without a document, two of two stages.
pub(crate) struct Picture(pub(super) Vec<Stack>);

impl Picture {
    /// Of the descriptions of one host.
    pub(crate) fn of(row: &[&Host]) -> Self {
        let mut stacks: Vec<Stack> = row.iter().filter_map(|host| stack(host)).collect();
        if let [early, later] = &mut stacks[..] {
            (early.stage, later.stage) = (Some(EARLY), Some(NODE));
            mark_moved(early, later);
            mark_only(&early.bricks, &mut later.bricks, Mark::New);
        }
        Self(stacks)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One picture a stage, without the style, which a page has once.
    pub(crate) fn stages(&self) -> Vec<String> {
        drawing::stages(self)
    }

    /// Marks the interfaces that findings are at, which are of the hosts that the picture shows.
    pub(crate) fn mark(&mut self, row: &[&Host], findings: &[&Diagnostic]) {
        let documents = row.iter().filter_map(|host| host.document());
        for (stack, document) in self.0.iter_mut().zip(documents) {
            fault::mark(&mut stack.bricks, document, findings);
        }
    }

    /// The picture without names of hosts and without addresses, which equal hosts share.
    pub(crate) fn shape(&self) -> String {
        self.0.iter().map(Stack::shape).collect()
    }

    /// Adds a picture of the same shape: texts that differ are marked.
    pub(crate) fn add(&mut self, other: Self) {
        self.0.iter_mut().zip(other.0).for_each(|(one, other)| one.add(other));
    }

    /// The texts that only this host has.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|stack| {
            let rest = stack.rest.iter().map(String::as_str);
            rest.chain(stack.bricks.iter().flat_map(Brick::words))
        })
    }

    /// The interfaces' addresses, the later stage's first.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        let bricks = self.0.iter().rev().flat_map(|stack| &stack.bricks);
        let details = bricks.flat_map(|brick| &brick.details);
        details.map(|detail| &*detail.text).filter(|text| text.contains('/') && !text.contains(' '))
    }
}

/// One row a host, those without a document too: its description, or the early and the later one.
pub(crate) fn rows(hosts: &[Host]) -> Vec<Vec<&Host>> {
    let mut early: HashMap<Key<'_>, &Host> = HashMap::new();
    let mut later: HashMap<Key<'_>, &Host> = HashMap::new();
    for host in hosts.iter().filter(|host| host.document().is_some() && host.policy.is_none()) {
        let stage = if host.stage == Stage::Early { &mut early } else { &mut later };
        stage.entry(key(host)).or_insert(host);
    }
    let is =
        |other: Option<&&Host>, host: &Host| other.is_some_and(|other| std::ptr::eq(*other, host));
    let mut rows = Vec::new();
    for host in hosts {
        let (before, after) = (early.get(&key(host)), later.get(&key(host)));
        let row = match (before, after) {
            (Some(_), Some(after)) if is(before, host) => vec![host, *after],
            // Drawn beside the early one.
            (Some(_), Some(_)) if is(after, host) => continue,
            _ => vec![host],
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
pub(crate) fn change(before: Option<&Host>, after: Option<&Host>) -> Picture {
    let (mut old, mut new) = (before.and_then(stack), after.and_then(stack));
    if let (Some(old), Some(new)) = (&mut old, &mut new) {
        (old.stage, new.stage) = (Some(BEFORE), Some(AFTER));
        mark_moved(old, new);
        mark_only(&old.bricks, &mut new.bricks, Mark::New);
        mark_only(&new.bricks, &mut old.bricks, Mark::Gone);
        mark_changed(&old.bricks, &mut new.bricks);
    }
    Picture(old.into_iter().chain(new).collect())
}

fn stack(host: &Host) -> Option<Stack> {
    let document = host.document()?;
    Some(Stack::of(&show::title(host, document), &document.shown()))
}

/// Marks addresses and routes that another interface has then, on both sides.
fn mark_moved(early: &mut Stack, later: &mut Stack) {
    for brick in &mut later.bricks {
        for detail in &mut brick.details {
            let is_its = |line: &Detail| is_same(&line.text, &detail.text);
            let has_it = |other: &Brick| other.details.iter().any(is_its);
            if early.bricks.iter().any(|other| other.name == brick.name && has_it(other)) {
                continue;
            }
            let Some(other) = early.bricks.iter_mut().find(|brick| has_it(brick)) else { continue };
            if let Some(line) = other.details.iter_mut().find(|line| is_its(line)) {
                line.other = Some(format!("\u{2192} {}", brick.name));
            }
            detail.other = Some(format!("\u{2190} {}", other.name));
        }
    }
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
        let is_there = others.iter().any(|other| is_same_interface(other, brick));
        brick.mark = Some(mark).filter(|_| !is_there);
    }
}

fn mark_changed(before: &[Brick], after: &mut [Brick]) {
    let lower = |bricks: &[Brick], brick: &Brick| -> Vec<String> {
        brick.below.iter().map(|index| bricks[*index].name.clone()).collect()
    };
    let below: Vec<Vec<String>> = after.iter().map(|brick| lower(after, brick)).collect();
    for (brick, below) in after.iter_mut().zip(below) {
        let Some(old) = before.iter().find(|old| is_same_interface(old, brick)) else { continue };
        let texts = |brick: &Brick| -> Vec<String> {
            brick.details.iter().map(|detail| detail.text.clone()).collect()
        };
        let is_same = old.properties == brick.properties
            && texts(old) == texts(brick)
            && lower(before, old) == below;
        brick.mark = Some(Mark::Changed).filter(|_| !is_same).or(brick.mark);
    }
}

//! The hosts that differ between two states of a fleet, each state beside the other.

use std::collections::HashMap;

use maud::{Markup, html};
use nmgen_core::source::Host;
use nmgen_document::format::{counted, printable};

use super::budget::{self, Budget};
use super::entry::{self, Entry, HostRow, State, View};
use super::frame::{self, Summary};
use crate::changes::{Change, HostComparison};
use crate::picture;

/// Field by field, with the picture of either state.
pub fn changes(compared: &[HostComparison<'_>], hosts: usize, old: &str, new: &str) -> String {
    let mut pictures = Budget(budget::PAGE.pictures);
    let mut lists = Budget(budget::PAGE.findings);
    let mut entries: Vec<Entry> =
        alike(compared).iter().map(|group| entry(group, &mut pictures, &mut lists)).collect();
    let title = printable(&format!("From {old} to {new}"));
    let changed = match compared.len() {
        0 => format!("No host of {hosts} differs."),
        count => format!("{count} of {} differ.", counted(hosts, "host")),
    };
    let states = &[("new", "added"), ("gone", "removed"), ("changed", "changed")];
    let lines = vec![changed];
    frame::page(
        &Summary { title, lines, findings: None, columns: &[], state: "Change", states },
        &mut entries,
    )
}

/// Hosts with the same differences, in the order of their first ones: the first one's picture shows them all.
fn alike<'c, 'h>(compared: &'c [HostComparison<'h>]) -> Vec<Vec<&'c HostComparison<'h>>> {
    let mut groups: Vec<Vec<&HostComparison<'_>>> = Vec::new();
    let mut known = HashMap::new();
    for one in compared {
        let cluster = one.after.or(one.before).and_then(|host| host.cluster.clone());
        let key = (cluster, one.change.role.clone(), one.change.change.lines());
        // What is added or removed is another host each.
        let is_changed = matches!(one.change.change, Change::Changed { .. });
        let index = match is_changed {
            true => *known.entry(key).or_insert(groups.len()),
            false => groups.len(),
        };
        match groups.get_mut(index) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups
}

/// `group` has one host at least.
fn entry(group: &[&HostComparison<'_>], pictures: &mut Budget, lists: &mut Budget) -> Entry {
    let HostComparison { change, before, after } = group[0];
    let lines = change.change.lines();
    let mut picture = picture::change(*before, *after);
    let hosts = group.iter().map(|one| host_row(one)).collect();
    for one in &group[1..] {
        picture.add(picture::change(one.before, one.after));
    }
    let role = printable(change.role.as_deref().unwrap_or(""));
    let host = after.or(*before);
    let cluster = printable(host.and_then(|host| host.cluster.as_deref()).unwrap_or("Hosts"));
    let State { class, text } = state(&change.change);
    let mut labels = vec![(class, text)];
    if let Change::Changed { .. } = change.change {
        labels.push(("", counted(lines.len(), "difference")));
    }
    let words = entry::words([&*cluster].into_iter().chain(lines.iter().map(String::as_str)));
    let view = match picture.is_empty() {
        true => View::Nothing("Neither state has a network for it."),
        false => View::of(&picture, pictures),
    };
    let lists = vec![list(&lines, lists)];
    Entry { hosts, cluster, role, labels, words, lists, view, is_open: true }
}

fn state(change: &Change) -> State {
    let (class, text) = match change {
        Change::Added => ("new", "added"),
        Change::Removed => ("gone", "removed"),
        Change::Changed { .. } => ("changed", "changed"),
    };
    State { class, text: text.to_owned() }
}

fn host_row(compared: &HostComparison<'_>) -> HostRow {
    let HostComparison { change, before, after } = compared;
    let picture = picture::change(*before, *after);
    HostRow {
        name: printable(change.host.as_deref().unwrap_or("the document")),
        addresses: entry::addresses(&picture),
        cells: Vec::new(),
        state: state(&change.change),
        file: file(*before, *after),
        words: entry::words(picture.words()),
    }
}

/// Differences of one host that are shown.
const MOST: usize = 200;

fn list(lines: &[String], budget: &mut Budget) -> Markup {
    let shown = lines.iter().take(MOST).take_while(|line| budget.has_room(line.len())).count();
    html! {
        ul.differences aria-label="Differences" {
            @for line in &lines[..shown] {
                li class=(class(line)) { code { (line) } }
            }
            @if shown < lines.len() { li { "and " (lines.len() - shown) " more: nmgen diff" } }
        }
    }
}

fn class(line: &str) -> &'static str {
    match line.chars().next() {
        Some('+') => "new",
        Some('-') => "gone",
        _ => "changed",
    }
}

fn file(before: Option<&Host>, after: Option<&Host>) -> String {
    let file = |host: &Host| printable(&host.place.file);
    match (before.map(file), after.map(file)) {
        (Some(before), Some(after)) if before != after => format!("{before}, {after}"),
        (before, after) => after.or(before).unwrap_or_default(),
    }
}

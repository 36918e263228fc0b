//! The hosts that differ between two states of a fleet, each state beside the other.

use std::collections::HashMap;

use maud::{Markup, html};
use nmgen_core::source::Host;
use nmgen_document::format::{counted, printable};

use super::budget::{self, Budget};
use super::entry::{self, Entry, View};
use super::frame::{self, Summary};
use crate::changes::{Change, HostComparison};
use crate::picture::{self, Row};

/// Field by field, with the picture of either state.
pub fn changes(compared: &[HostComparison<'_>], hosts: usize, old: &str, new: &str) -> String {
    let mut pictures = Budget(budget::PAGE.pictures);
    let mut lists = Budget(budget::PAGE.findings);
    let entries: Vec<Entry> =
        alike(compared).iter().map(|group| entry(group, &mut pictures, &mut lists)).collect();
    let title = printable(&format!("From {old} to {new}"));
    let changed = match compared.len() {
        0 => format!("No host of {hosts} differs."),
        count => format!("{count} of {} differ.", counted(hosts, "host")),
    };
    frame::page(&Summary { title, lines: vec![changed], findings: None, only: None }, &entries)
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

/// Names of hosts beside the first one's.
const MOST_NAMES: usize = 1_000;

/// The names of the other hosts of a group.
fn others(group: &[&HostComparison<'_>]) -> Vec<String> {
    let names = group.iter().skip(1).filter_map(|one| one.change.host.as_deref());
    names.take(MOST_NAMES).map(printable).collect()
}

/// `group` has one host at least.
fn entry(group: &[&HostComparison<'_>], pictures: &mut Budget, lists: &mut Budget) -> Entry {
    let HostComparison { change, before, after } = group[0];
    let lines = change.change.lines();
    let row = picture::change(*before, *after);
    let label = match change.change {
        Change::Added => ("new", "added"),
        Change::Removed => ("gone", "removed"),
        Change::Changed { .. } => ("changed", "changed"),
    };
    let others = others(group);
    let first = printable(change.host.as_deref().unwrap_or("the document"));
    let title = match group.len() - 1 {
        0 => first,
        more => format!("{first} and {}", counted(more, "other")),
    };
    let role = printable(change.role.as_deref().unwrap_or(""));
    let host = after.or(*before);
    let cluster = printable(host.and_then(|host| host.cluster.as_deref()).unwrap_or("Hosts"));
    let file = file(*before, *after);
    let names = [&*title, &*role, &*cluster, &*file, label.1].into_iter();
    let names = names.chain(others.iter().map(String::as_str));
    let words = entry::words(names.chain(row.words()).chain(lines.iter().map(String::as_str)));
    let view = view(&row, pictures);
    let addresses = entry::addresses(&row);
    let mut labels = vec![(label.0, label.1.to_owned())];
    if let Change::Changed { .. } = change.change {
        labels.push(("", counted(lines.len(), "difference")));
    }
    let mut lists = vec![list(&lines, lists)];
    if !others.is_empty() {
        lists.push(html! { p { "Also: " (others.join(", ")) } });
    }
    let (is_kept, is_open) = (true, true);
    Entry { title, cluster, role, file, addresses, labels, words, lists, view, is_kept, is_open }
}

fn view(row: &Row<'_>, pictures: &mut Budget) -> View {
    let svg = row.has_picture().then(|| row.svg());
    match svg {
        None => View::Nothing("Neither state has a network for it."),
        Some(svg) if pictures.has_room(&svg) => View::Picture(svg),
        Some(_) => View::Nothing("The page has no room for its picture: --host NAME shows it."),
    }
}

/// Differences of one host that are shown.
const MOST: usize = 200;

fn list(lines: &[String], budget: &mut Budget) -> Markup {
    let shown = lines.iter().take(MOST).take_while(|line| budget.has_room(line)).count();
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

//! The hosts that differ between two states of a fleet, each state beside the other.

use maud::{Markup, html};
use nmgen_core::source::Host;
use nmgen_document::format::{counted, printable};

use super::budget::{self, Budget};
use super::entry::{self, Entry, View};
use super::frame::{self, Summary};
use crate::changes::{Change, Compared};
use crate::picture::{self, Row};

/// Field by field, with the picture of either state.
pub fn changes(compared: &[Compared<'_>], hosts: usize, old: &str, new: &str) -> String {
    let mut pictures = Budget(budget::PAGE.pictures);
    let mut lists = Budget(budget::PAGE.findings);
    let entries: Vec<Entry> =
        compared.iter().map(|it| entry(it, &mut pictures, &mut lists)).collect();
    let title = printable(&format!("From {old} to {new}"));
    let changed = match compared.len() {
        0 => format!("No host of {hosts} differs."),
        count => format!("{count} of {} differ.", counted(hosts, "host")),
    };
    frame::page(&Summary { title, lines: vec![changed], findings: None, only: None }, &entries)
}

fn entry(compared: &Compared<'_>, pictures: &mut Budget, lists: &mut Budget) -> Entry {
    let Compared { change, before, after } = compared;
    let lines = change.change.lines();
    let row = picture::change(*before, *after);
    let label = match change.change {
        Change::Added => ("new", "added"),
        Change::Removed => ("gone", "removed"),
        Change::Changed { .. } => ("changed", "changed"),
    };
    let title = printable(change.host.as_deref().unwrap_or("the document"));
    let role = printable(change.role.as_deref().unwrap_or(""));
    let host = after.or(*before);
    let cluster = printable(host.and_then(|it| it.cluster.as_deref()).unwrap_or("Hosts"));
    let file = file(*before, *after);
    let names = [&*title, &*role, &*cluster, &*file, label.1].into_iter();
    let words = entry::words(names.chain(row.words()).chain(lines.iter().map(String::as_str)));
    let view = view(&row, pictures);
    let addresses = entry::addresses(&row);
    let mut labels = vec![(label.0, label.1.to_owned())];
    if let Change::Changed { .. } = change.change {
        labels.push(("", counted(lines.len(), "difference")));
    }
    let lists = vec![list(&lines, lists)];
    Entry { title, cluster, role, file, addresses, labels, words, lists, view, is_kept: true }
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

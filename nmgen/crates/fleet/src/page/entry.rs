//! Hosts that are alike, on a page: a line that opens, and a row of the table for each of them.

use maud::{Markup, PreEscaped, html};
use nmgen_document::format::{counted, printable};

use super::budget::Budget;
use crate::picture::Picture;

/// The words of a host that are searched.
const MAX_WORDS: usize = 4_000;
/// Addresses of a host that are shown.
const MAX_ADDRESSES: usize = 3;

/// Hosts that are alike, and all that the page shows of them. Each text is as it is shown; maud escapes the markup's characters.
pub(super) struct Entry {
    /// One host at least.
    pub(super) hosts: Vec<HostRow>,
    pub(super) cluster: String,
    pub(super) role: String,
    /// Labels beside its name, with their classes.
    pub(super) labels: Vec<(&'static str, String)>,
    /// The text that is searched for all of its hosts.
    pub(super) words: String,
    /// Lists above the picture.
    pub(super) lists: Vec<Markup>,
    pub(super) view: View,
    /// The page opens on it.
    pub(super) is_open: bool,
}

/// A host of the table.
pub(super) struct HostRow {
    pub(super) name: String,
    pub(super) addresses: Vec<String>,
    /// The cells between its addresses and its state.
    pub(super) cells: Vec<String>,
    pub(super) state: State,
    pub(super) file: String,
    /// The text that is searched, besides what is seen.
    pub(super) words: String,
}

/// The state of a host, which the page is filtered by.
pub(super) struct State {
    /// One word, also the class of its colour.
    pub(super) class: &'static str,
    pub(super) text: String,
}

/// The picture of hosts, or what is in its place.
pub(super) enum View {
    /// In SVG, one a stage.
    Pictures(Vec<String>),
    Nothing(&'static str),
}

impl View {
    /// The picture, if the page has room for it.
    pub(super) fn of(picture: &Picture, budget: &mut Budget) -> Self {
        if budget.0 > 0 {
            let stages = picture.stages();
            if budget.has_room(stages.iter().map(String::len).sum()) {
                return Self::Pictures(stages);
            }
        }
        Self::Nothing("The page has no room for its picture: --host NAME shows it.")
    }
}

impl Entry {
    pub(super) fn markup(&self, is_open: bool) -> Markup {
        let others = self.hosts.len().saturating_sub(1);
        let (first, files) = (self.hosts.first(), self.files());
        html! {
            details.host open[is_open] data-words=(self.words) {
                summary {
                    b {
                        @if let Some(host) = first { (host.name) }
                        @if others > 0 { " and " (counted(others, "other")) }
                    }
                    @for (class, label) in &self.labels { " " span class={ "label " (class) } { (label) } }
                    @if let Some(host) =
                        first.filter(|host| others == 0 && !host.addresses.is_empty())
                    {
                        " " span.addresses { (host.addresses.join("  ")) }
                    }
                }
                @for list in &self.lists { (list) }
                @match &self.view {
                    View::Pictures(stages) => {
                        div.picture tabindex="0" { @for svg in stages { (PreEscaped(svg)) } }
                    }
                    View::Nothing(reason) => { p { (reason) } }
                }
                @if !files.is_empty() { p.file { "from " (files) } }
            }
        }
    }

    /// The files of its hosts: of many, the first one's.
    fn files(&self) -> String {
        let first = self.hosts.first().map_or("", |host| &host.file);
        match self.hosts.iter().filter(|host| host.file != first).count() {
            0 => first.to_owned(),
            more => format!("{first}, and {more} more"),
        }
    }
}

impl HostRow {
    /// The row of an entry, which is known by its number.
    pub(super) fn markup(&self, role: &str, entry: usize) -> Markup {
        html! {
            tr data-words=(self.words) data-entry=(entry) data-role=(role) data-state=(self.state.class) {
                // The script enables it.
                th scope="row" { button type="button" disabled { (self.name) } }
                td { (role) }
                td { (self.addresses.join("  ")) }
                @for cell in &self.cells { td { (cell) } }
                td class=(self.state.class) { (self.state.text) }
                td { (self.file) }
            }
        }
    }
}

/// Words in lower case, as many as a search has room for.
pub(super) fn words<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let mut text = String::new();
    for word in words {
        if text.len() + word.len() > MAX_WORDS {
            break;
        }
        text.push_str(word);
        text.push(' ');
    }
    printable(&text.to_lowercase())
}

/// The addresses of a picture, the running node's first.
pub(super) fn addresses(picture: &Picture) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for address in picture.addresses() {
        if found.len() == MAX_ADDRESSES {
            break;
        }
        if !found.iter().any(|known| known == address) {
            found.push(address.to_owned());
        }
    }
    found
}

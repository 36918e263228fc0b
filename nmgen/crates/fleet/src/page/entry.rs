//! One host on a page: a line that opens.

use maud::{Markup, PreEscaped, html};
use nmgen_document::format::printable;

use crate::picture::Row;

/// The words of a host that are searched.
const MAX_WORDS: usize = 4_000;
/// Addresses beside a host's name.
const MAX_ADDRESSES: usize = 3;

/// A host, and all that the page shows of it. Each text is as it is shown; maud escapes the markup's characters.
pub(super) struct Entry {
    pub(super) title: String,
    pub(super) cluster: String,
    pub(super) role: String,
    pub(super) file: String,
    /// The addresses beside its name.
    pub(super) addresses: Vec<String>,
    /// Labels beside its name, with their classes.
    pub(super) labels: Vec<(&'static str, String)>,
    /// The text that is searched.
    pub(super) words: String,
    /// Lists above the picture.
    pub(super) lists: Vec<Markup>,
    pub(super) view: View,
    /// The box beside the search leaves it.
    pub(super) is_kept: bool,
    /// The page opens on it.
    pub(super) is_open: bool,
}

/// The picture of a host, or what is in its place.
pub(super) enum View {
    /// In SVG.
    Picture(String),
    /// A tree of text: the page has no room for another picture.
    Tree(String),
    Nothing(&'static str),
}

impl Entry {
    pub(super) fn markup(&self, is_open: bool) -> Markup {
        html! {
            details.host open[is_open] data-words=(self.words) data-kept[self.is_kept] {
                summary {
                    b { (self.title) }
                    @for (class, label) in &self.labels { " " span class={ "label " (class) } { (label) } }
                    @if !self.addresses.is_empty() { " " span.addresses { (self.addresses.join("  ")) } }
                }
                @for list in &self.lists { (list) }
                @match &self.view {
                    View::Picture(svg) => { div.picture tabindex="0" { (PreEscaped(svg)) } }
                    View::Tree(tree) => { pre tabindex="0" { (tree) } }
                    View::Nothing(reason) => { p { (reason) } }
                }
                @if !self.file.is_empty() { p.file { "from " (self.file) } }
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

/// The addresses that a row has, the running node's first.
pub(super) fn addresses(row: &Row<'_>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for address in row.addresses() {
        if found.len() == MAX_ADDRESSES {
            break;
        }
        if !found.iter().any(|known| known == address) {
            found.push(address.to_owned());
        }
    }
    found
}

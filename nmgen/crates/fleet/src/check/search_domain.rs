//! Search domains that no name server can have.

use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::{Document, Node};

rules! {
    warning SEARCH_DOMAIN = "search-domain-syntax";
}

pub(super) fn check(document: &Document<'_>, diagnostics: &mut Diagnostics) {
    let list = document.root.at(&["dns-resolver", "config", "search"]);
    for node in list.map(Node::items).unwrap_or_default() {
        if let Some(text) = node.text().filter(|text| !is_domain(text)) {
            let message = format!("\"{}\" is not a domain", text.escape_debug());
            let help = "domains have letters, digits and hyphens, with dots between them";
            diagnostics.add(SEARCH_DOMAIN, document.place(node.span), message, help);
        }
    }
}

/// A name, perhaps with systemd-resolved's `~` of a domain that is only for routing. Underscores occur.
fn is_domain(text: &str) -> bool {
    let name = text.strip_prefix('~').unwrap_or(text);
    let name = name.strip_suffix('.').unwrap_or(name);
    let is_character = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let is_label = |label: &str| !label.is_empty() && label.chars().all(is_character);
    text == "." || text == "~." || name.split('.').all(is_label)
}

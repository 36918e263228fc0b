//! Several documents in one file, as in Kubernetes manifests.

use super::long_list;
use super::many::too_many;
use crate::diagnostic::Diagnostics;
use crate::parse::parse_tree;
use crate::parsed::Document;
use crate::size::MAX_HOSTS;
use crate::text::Source;
use crate::text::lines::{self, Lines};
use crate::text::place::Place;

/// The documents of a file. Each is parsed on its own, so that a faulty one doesn't hide the others;
/// documents of comments only are skipped. They end with the one that exceeds the values of a file.
pub fn parse_stream(source: &Source) -> Vec<Result<Document<'_>, Diagnostics>> {
    let file = Lines::new(source);
    let sections = sections(&file, &source.text);
    if sections.len() < 2 {
        return vec![long_list::parse(&source.text, file)];
    }
    if sections.len() > MAX_HOSTS {
        let place = Place::file(source.name.clone());
        return vec![Err(too_many(place).into())];
    }
    let mut documents = Vec::new();
    for (first, text) in sections.into_iter().filter(|(_, text)| !is_blank(text)) {
        documents.push(parse_tree(text, Lines::part(&file, text, first, 0)));
        // One fault tells it for the documents below.
        if file.budget().is_exceeded() {
            break;
        }
    }
    documents
}

/// The sections between lines of `---`, each with the number of lines before it.
fn sections<'t>(lines: &Lines, text: &'t str) -> Vec<(u32, &'t str)> {
    let mut sections = Vec::new();
    let (mut start, mut first) = (0, 0);
    for (number, offset) in lines.starts().enumerate() {
        let is_marker = text[offset..]
            .strip_prefix("---")
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']));
        if is_marker {
            sections.push((first, &text[start..offset]));
            (start, first) = (offset, number as u32);
        }
    }
    sections.push((first, &text[start..]));
    // A file may begin with the marker.
    if sections.first().is_some_and(|(_, text)| is_blank(text)) {
        sections.remove(0);
    }
    sections
}

fn is_blank(text: &str) -> bool {
    lines::split(text).all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#') || line == "---" || line == "..."
    })
}

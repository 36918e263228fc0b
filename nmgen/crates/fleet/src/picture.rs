//! The stack of a host as a picture in SVG: cards at the bottom, addresses and routes at the top. Two stages of a host are side by
//! side, and what moves between interfaces is marked.

mod drawing;
mod fault;
mod layout;
mod legend;
mod stack;
mod stages;

use std::collections::HashMap;

use nmgen_core::source::Host;

pub(crate) use self::legend::legend;
pub(crate) use self::stages::{Picture, change, rows};

/// The colours of a picture, light and dark.
pub(crate) const STYLE: &str = include_str!("picture/style.css");

/// Draws all hosts that have a document, one below the other; those that differ only in names and addresses are one picture.
pub fn svg(hosts: &[Host]) -> String {
    let mut pictures: Vec<Picture> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for row in rows(hosts) {
        let picture = Picture::of(&row);
        if picture.is_empty() {
            continue;
        }
        let index = *known.entry(picture.shape()).or_insert(pictures.len());
        match pictures.get_mut(index) {
            Some(first) => first.add(picture),
            None => pictures.push(picture),
        }
    }
    drawing::svg(&pictures, Some(STYLE))
}

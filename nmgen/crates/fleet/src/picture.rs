//! The stack of a host as a picture in SVG: cards at the bottom, addresses and routes at the top. Two stages of a host are side by
//! side, and what moves between interfaces is marked.

mod drawing;
mod layout;
mod stack;
mod stages;

use nmgen_core::source::Host;

use self::stack::Stack;
pub(crate) use self::stages::{Row, change, rows};

/// The colours of a picture, light and dark.
pub(crate) const STYLE: &str = include_str!("picture/style.css");

/// Draws all hosts that have a document, one below the other; those that differ in nothing but their names are one picture.
pub fn svg(hosts: &[Host]) -> String {
    let mut pictures: Vec<Vec<Stack>> = Vec::new();
    for Row { stacks, .. } in rows(hosts).into_iter().filter(Row::has_picture) {
        let known = pictures.iter_mut().find(|known| {
            known.len() == stacks.len()
                && known.iter().zip(&stacks).all(|(one, it)| one.is_like(it))
        });
        match known {
            Some(known) => {
                let others = known.iter_mut().zip(stacks);
                others.for_each(|(one, it)| one.others.push(it.title));
            }
            None => pictures.push(stacks),
        }
    }
    drawing::svg(&pictures, Some(STYLE))
}

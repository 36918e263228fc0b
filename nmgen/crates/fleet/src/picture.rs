//! The stack of a host as a picture in SVG: cards at the bottom, addresses and routes at the top. Two stages of a host are side by
//! side, and what moves between interfaces is marked.

mod block;
mod brick;
mod drawing;
mod layout;
mod part;
mod rows;
mod stages;
mod tracks;

use nmgen_core::source::Host;

use self::brick::Stack;
use self::stages::stages;

/// The colours of a picture, light and dark.
pub(crate) const STYLE: &str = include_str!("picture/style.css");

/// Draws all hosts that have a document, one below the other.
pub fn svg(hosts: &[Host]) -> String {
    let rows: Vec<Vec<Stack>> =
        stages(hosts).into_iter().map(|row| row.stacks).filter(|it| !it.is_empty()).collect();
    drawing::svg(&rows, Some(STYLE))
}

/// A host of a picture, with both of its stages if the sources have them.
pub(crate) struct Row<'h> {
    /// Its descriptions: one, or the early and the later one.
    pub(crate) hosts: Vec<&'h Host>,
    /// None of a host without a document.
    stacks: Vec<Stack>,
}

/// All hosts, those without a document too.
pub(crate) fn rows(hosts: &[Host]) -> Vec<Row<'_>> {
    stages(hosts)
}

/// Two states of a host.
pub(crate) fn change<'h>(before: Option<&'h Host>, after: Option<&'h Host>) -> Row<'h> {
    stages::change(before, after)
}

impl Row<'_> {
    pub(crate) fn has_picture(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// The picture without its style, which a page has once.
    pub(crate) fn svg(&self) -> String {
        drawing::svg(std::slice::from_ref(&self.stacks), None)
    }

    /// All words of the picture.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        self.stacks.iter().flat_map(|stack| {
            let rest = stack.rest.iter().map(String::as_str);
            rest.chain(stack.bricks.iter().flat_map(brick::Brick::words))
        })
    }

    /// The interfaces' addresses, the later stage's first.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = &str> {
        let bricks = self.stacks.iter().rev().flat_map(|stack| &stack.bricks);
        let details = bricks.flat_map(|brick| &brick.details);
        details.map(|detail| &*detail.text).filter(|text| text.contains('/') && !text.contains(' '))
    }
}

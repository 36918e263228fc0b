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

/// Draws all hosts that have a document, one below the other.
pub fn svg(hosts: &[Host]) -> String {
    let rows: Vec<Vec<Stack>> = stages(hosts);
    drawing::svg(&rows)
}

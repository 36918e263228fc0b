//! Standard output.

use std::io::Write as _;

use crate::{error::Error, paths::Paths};

/// Prints to stdout, as every output shows text of others.
pub(super) fn print(text: &str) -> Result<(), Error> {
    print_page(&nmgen::printable_lines(text))
}

/// Prints about a node that may be a collected one: with the paths of its files there.
pub(super) fn print_of(paths: &Paths, text: &str) -> Result<(), Error> {
    print(&paths.on_node(text))
}

/// Prints to stdout what is made for it: with colours, or JSON.
pub(super) fn print_page(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

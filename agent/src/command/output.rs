//! Standard output.

use std::io::Write as _;

use crate::error::Error;

/// Prints to stdout, as every output shows text of others.
pub(super) fn print(text: &str) -> Result<(), Error> {
    print_page(&nmgen::printable_lines(text))
}

/// Prints to stdout what is made for it: with colours, or JSON.
pub(super) fn print_page(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

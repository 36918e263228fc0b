//! Standard output.

use std::io::Write as _;

use crate::error::Error;

/// Prints to stdout.
pub(super) fn print(text: &str) -> Result<(), Error> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(Error::Output)
}

//! Reads small files that others wrote. Neither a FIFO in the place of one nor one of any size holds a boot up.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// More than any profile has.
const MAX_BYTES: u64 = 16 << 20;

/// The content.
///
/// # Errors
/// It cannot be read, is no regular file, or larger than 16 MiB.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

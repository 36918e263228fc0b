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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_bound_is_read_whole_and_a_larger_one_is_refused() -> io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        file.as_file().set_len(MAX_BYTES)?;
        assert_eq!(read(file.path())?.len() as u64, MAX_BYTES);
        file.as_file().set_len(MAX_BYTES + 1)?;
        assert_eq!(read(file.path()).map_err(|it| it.kind()), Err(ErrorKind::FileTooLarge));
        Ok(())
    }
}

//! The bytes of one file, up to a bound. Special files are refused.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// The content of a file.
///
/// # Errors
/// Those of [`open`] and [`read_from`].
pub fn read(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    read_from(open(path)?, limit)
}

/// Everything that a reader gives.
///
/// # Errors
/// The reader's; [`ErrorKind::FileTooLarge`] for more than `limit` bytes, of which no more are held in memory.
pub fn read_from(reader: impl Read, limit: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        return Err(ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Opens a file for reading. One that would wait for a writer, or is a device, is refused at once; a pipe that the caller has open
/// (`<(command)` of a shell) is none of these.
///
/// # Errors
/// The operating system's; [`ErrorKind::InvalidInput`] names the kind of special file.
pub fn open(path: &Path) -> io::Result<File> {
    let is_descriptor = ["/dev/fd", "/proc/self/fd", "/dev/stdin"];
    if !is_descriptor.iter().any(|descriptors| path.starts_with(descriptors)) {
        let kind = fs::metadata(path)?.file_type();
        let special = [
            (kind.is_fifo(), "a FIFO"),
            (kind.is_socket(), "a socket"),
            (kind.is_char_device() || kind.is_block_device(), "a device"),
        ];
        if let Some((_, kind)) = special.iter().find(|(is_it, _)| *is_it) {
            return Err(io::Error::new(
                ErrorKind::InvalidInput,
                format!("it is {kind}, not a file"),
            ));
        }
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use std::io::{self, ErrorKind};

    use super::read;

    #[test]
    fn a_file_of_the_bound_is_read_whole_and_a_larger_one_is_refused() -> io::Result<()> {
        let file = tempfile::NamedTempFile::new()?;
        for (size, expected) in [(8, Ok(8)), (9, Err(ErrorKind::FileTooLarge))] {
            file.as_file().set_len(size)?;
            let read = read(file.path(), 8).map(|bytes| bytes.len());
            assert_eq!(read.map_err(|error| error.kind()), expected);
        }
        Ok(())
    }
}

//! Random bytes of the kernel.

use std::{fs::File, io, io::Read as _};

/// Bytes that nobody can guess.
pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

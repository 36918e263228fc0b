//! Compression, the same at every run: no time, no file name.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use nmgen_document::error::Error;

/// Without time and name, so that equal text gives equal bytes.
pub(super) fn gzip(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map_err(|source| Error::Compress { source })
}

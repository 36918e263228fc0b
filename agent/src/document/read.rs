//! Reading documents from disk, within bounds.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use nmgen::source::bounded;
use thiserror::Error;

use super::{digest::Digest, identity::HostNameError};
use crate::{
    client::netlink::NetlinkError,
    library_log,
    paths::{PathError, Paths, cannot},
};

/// Why no document could be chosen.
#[derive(Debug, Error)]
pub(crate) enum DocumentError {
    #[error(transparent)]
    HostName(#[from] HostNameError),
    #[error("the network cards, whose addresses documents may be named after, cannot be read")]
    Cards(#[from] NetlinkError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error("{path} is larger than {limit} bytes")]
    TooLarge { path: PathBuf, limit: usize },
    #[error("{path} is not UTF-8")]
    Encoding { path: PathBuf, source: std::string::FromUtf8Error },
}

/// Larger documents are refused before parsing.
const LIMIT: usize = 1 << 20;

#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) digest: Digest,
    /// Permissions of the file; every copy gets the same, since it may hold secrets.
    pub(crate) mode: u32,
}

impl Document {
    pub(crate) fn read(path: PathBuf) -> Result<Self, DocumentError> {
        let read = |source| unread(path.clone(), source);
        let bytes = bytes(&path).map_err(read)?;
        let mode = fs::metadata(&path).map_err(read)?.permissions().mode() & 0o777;
        Self::of(path, bytes, mode)
    }

    /// Reads a file of a node, which has its own path in the answer also where the node was collected.
    pub(crate) fn read_as_on_node(paths: &Paths, path: PathBuf) -> Result<Self, DocumentError> {
        let shown = paths.on_node(&path.to_string_lossy());
        let is_elsewhere = paths.collected().is_some();
        let document = Self::read(path)?;
        Ok(if is_elsewhere { Self { path: shown.into(), ..document } } else { document })
    }

    /// Reads a file that the caller names; `-` is standard input.
    pub(crate) fn given(path: &Path) -> Result<Self, DocumentError> {
        if path != Path::new("-") {
            return Self::read(path.to_path_buf());
        }
        let path = PathBuf::from("standard input");
        match bounded::read_from(io::stdin().lock(), LIMIT) {
            Ok(bytes) => Self::of(path, bytes, 0o600),
            Err(source) => Err(unread(path, source)),
        }
    }

    fn of(path: PathBuf, bytes: Vec<u8>, mode: u32) -> Result<Self, DocumentError> {
        let digest = Digest::of(&bytes);
        let text = String::from_utf8(bytes)
            .map_err(|source| DocumentError::Encoding { path: path.clone(), source })?;
        library_log::hide_secrets_of(&text);
        Ok(Self { path, text, digest, mode })
    }
}

/// The bytes of a document's file.
pub(super) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    bounded::read(path, LIMIT)
}

fn unread(path: PathBuf, source: io::Error) -> DocumentError {
    if source.kind() == io::ErrorKind::FileTooLarge {
        return DocumentError::TooLarge { path, limit: LIMIT };
    }
    cannot("read", &path)(source).into()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Document, DocumentError, LIMIT};

    #[test]
    fn a_document_has_its_files_mode_and_at_most_the_limit()
    -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let path = directory.path().join("cluster.yml");
        let full = "#".repeat(LIMIT);
        for mode in [0o640, 0o400] {
            std::fs::write(&path, &full)?;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?;
            for document in [Document::read(path.clone())?, Document::given(&path)?] {
                assert_eq!((document.mode, document.text.as_str()), (mode, full.as_str()));
            }
            std::fs::remove_file(&path)?;
        }
        std::fs::write(&path, full + "#")?;
        let larger = Document::read(path);
        assert!(matches!(larger, Err(DocumentError::TooLarge { limit: LIMIT, .. })));
        Ok(())
    }
}

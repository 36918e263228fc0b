//! Digests of the profiles that nmgen gave the running system: which of them are still as it wrote them.
//!
//! The file has sha256sum(1)'s format. It is not the mark, so that it outlives the mark's removal.

use std::path::Path;

use nmgen_core::write::File;
use nmgen_document::format::hex;
use sha2::{Digest as _, Sha256};

use crate::files;
use crate::root::ETC_PROFILES;

/// The running system's file.
pub(crate) const DIGESTS: &str = "/etc/nmgen/persisted.sha256";

/// The names of files with their digests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Digests(Vec<(String, String)>);

impl Digests {
    /// The digests of the file; none of a missing or damaged one, as of a system that nobody gave profiles.
    pub(crate) fn read(path: &Path) -> Self {
        // A link may lead into the initramfs.
        let bytes =
            if path.is_symlink() { Vec::new() } else { files::read(path).unwrap_or_default() };
        Self::parse(&String::from_utf8_lossy(&bytes))
    }

    fn parse(text: &str) -> Self {
        let entry = |line: &str| {
            let (digest, path) = line.split_once("  ")?;
            let name = path.strip_prefix(ETC_PROFILES)?.strip_prefix('/')?;
            Some((name.to_owned(), digest.to_owned()))
        };
        Self(text.lines().filter_map(entry).collect())
    }

    pub(crate) fn add(&mut self, file: &File) {
        self.0.retain(|(name, _)| *name != file.name);
        self.0.push((file.name.clone(), of(&file.content)));
    }

    /// True for a file with the content of the digest.
    pub(crate) fn has(&self, name: &str, content: &[u8]) -> bool {
        self.0.iter().any(|(known, digest)| known == name && *digest == of(content))
    }

    pub(crate) fn text(&self) -> String {
        self.0.iter().map(|(name, digest)| format!("{digest}  {ETC_PROFILES}/{name}\n")).collect()
    }
}

/// SHA-256, in hexadecimal digits.
pub(crate) fn of(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_not_the_one_that_was_written() {
        let file = |content: &[u8]| File {
            directories: Vec::new(),
            name: "Bond of two.nmconnection".to_owned(),
            content: content.to_vec(),
        };
        let mut digests = Digests::default();
        digests.add(&file(b"[connection]\n"));
        let read = Digests::parse(&digests.text());
        assert_eq!(read, digests);
        assert!(read.has("Bond of two.nmconnection", b"[connection]\n"));
        assert!(!read.has("Bond of two.nmconnection", b"[connection]\nid=x\n"));
        assert!(!read.has("other.nmconnection", b"[connection]\n"));
        assert_eq!(Digests::parse("no digest\n\u{0}"), Digests::default());
    }
}

//! SHA-256 of a document's bytes.

use std::{collections::BTreeMap, fmt, sync::OnceLock};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// 64 lower-case hexadecimal digits; of a collected node's text with secrets a token.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Digest(String);

/// The digests of a collected node's bytes, by those of the texts whose secrets are hidden.
static COLLECTED: OnceLock<BTreeMap<Digest, Digest>> = OnceLock::new();

impl Digest {
    /// The digest of `bytes`; for a text of a collected node that of the node's own bytes.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let own = Self::of_these(bytes);
        COLLECTED.get().and_then(|known| known.get(&own).cloned()).unwrap_or(own)
    }

    /// From now on the digests on the left stand for those on the right: once a process, which looks at one node.
    pub(crate) fn stand_for(digests: BTreeMap<Self, Self>) {
        COLLECTED.get_or_init(|| digests);
    }

    /// The digest of just these bytes.
    pub(crate) fn of_these(bytes: &[u8]) -> Self {
        Self(nmgen::hex(&Sha256::digest(bytes)))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn is_sha256_in_hex() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }
}

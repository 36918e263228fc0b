//! MAC addresses, in documents' texts and in names of files.

use std::fmt;

use crate::check::mac::parse as bytes;

/// An address of 6 bytes (Ethernet) or 20 (InfiniBand).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mac(Vec<u8>);

impl Mac {
    /// As NetworkManager reads one.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::new(bytes(text)?)
    }

    /// All zeros are no address.
    pub(super) fn new(bytes: Vec<u8>) -> Option<Self> {
        let is_address = matches!(bytes.len(), 6 | 20) && bytes.iter().any(|byte| *byte != 0);
        is_address.then_some(Self(bytes))
    }

    pub(super) fn is(&self, bytes: &[u8]) -> bool {
        self.0 == bytes
    }

    /// True when these are its first bytes, and not all of them.
    pub(super) fn begins_with(&self, bytes: &[u8]) -> bool {
        self.0.starts_with(bytes) && !self.is(bytes)
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, byte) in self.0.iter().enumerate() {
            let separator = if position == 0 { "" } else { ":" };
            write!(f, "{separator}{byte:02x}")?;
        }
        Ok(())
    }
}

/// The bytes in a file name of two digits each with hyphens between them: `52-54-00`.
pub(super) fn in_file_name(stem: &str) -> Option<Vec<u8>> {
    let is_group = |group: &str| group.len() == 2;
    (stem.contains('-') && stem.split('-').all(is_group)).then(|| bytes(stem))?
}

/// The addresses that stand somewhere in the text, in whatever way they are written there.
pub(super) fn mentioned(text: &[u8]) -> impl Iterator<Item = Mac> + use<'_> {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || is_separator(*byte);
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_hexdigit);
    // The end of the last word that was looked at.
    let mut done = 0;
    memchr::memchr2_iter(b':', b'-', text).filter_map(move |at| {
        // Most separators end a key or begin an item: their neighbours tell.
        if at < done || !is_digit(at.checked_sub(1)) || !is_digit(at.checked_add(1)) {
            return None;
        }
        let before = text[done..at].iter().rposition(|byte| !is_part(byte));
        let start = before.map_or(done, |before| done + before + 1);
        let length = text[at..].iter().position(|byte| !is_part(byte));
        done = length.map_or(text.len(), |length| at + length);
        let word = std::str::from_utf8(&text[start..done]).ok()?;
        Mac::parse(word.trim_matches([':', '-']))
    })
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b':' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mac(text: &str) -> Mac {
        Mac::parse(text).unwrap_or(Mac(Vec::new()))
    }

    #[test]
    fn it_is_found_in_every_notation() {
        let wanted = mac("52:54:00:0a:0b:0c");
        for text in [
            "mac-address: 52:54:00:0a:0b:0c",
            "mac-address: 52:54:00:0A:0B:0C\n",
            "mac-address: 52-54-00-0a-0b-0c",
            "mac-address: '52:54:0:a:b:c'",
            "{\"mac-address\":\"52:54:00:0A:0b:0C\"}",
            "- 52:54:00:0a:0b:0c # the first card",
            "52:54:00:0a:0b:0c",
        ] {
            let found: Vec<Mac> = mentioned(text.as_bytes()).collect();
            assert_eq!(found, std::slice::from_ref(&wanted), "{text}");
        }
        for text in [
            "",
            ":",
            "a:",
            "mac-address: 52:54:00:0a:0b:0d",
            "52:54:00:0a:0b",
            "52:54:00:0a:0b:0c:0d",
            "2001:db8::52:54",
            "mac-address: \u{e9}:52",
        ] {
            assert!(mentioned(text.as_bytes()).all(|mac| mac != wanted), "{text}");
        }
    }

    #[test]
    fn file_names_hold_whole_bytes() {
        assert_eq!(in_file_name("52-54-00"), Some(vec![0x52, 0x54, 0]));
        assert_eq!(in_file_name("AA-bb-CC-dd-EE-ff").map(|bytes| bytes.len()), Some(6));
        for stem in ["52", "5-4", "52-54-0", "worker-0", "52:54:00", "52-54-", ""] {
            assert_eq!(in_file_name(stem), None, "{stem}");
        }
    }
}

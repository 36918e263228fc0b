//! MAC addresses in documents, file names and any text. Imports no other module.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Bytes of an Ethernet address.
const ETHERNET: usize = 6;
/// Bytes of an InfiniBand address.
const INFINIBAND: usize = 20;
/// Bytes of an InfiniBand port's GUID, at the end of its address.
const GUID: usize = 8;

/// An address of 6 bytes (Ethernet) or 20 (InfiniBand). Two of InfiniBand are equal if they have the same
/// GUID: the queue pair and the subnet before it change from boot to boot (`nm_utils_hwaddr_matches`).
#[derive(Debug, Clone, Copy)]
pub struct Mac {
    /// Zero beyond `length`.
    bytes: [u8; INFINIBAND],
    length: usize,
}

impl Mac {
    /// Reads an address as NetworkManager does: `:` or `-` between bytes of one or two hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_bytes(&bytes(text)?)
    }

    /// An address with the length of an Ethernet or InfiniBand address.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if !matches!(bytes.len(), ETHERNET | INFINIBAND) {
            return None;
        }
        let mut padded = [0; INFINIBAND];
        padded[..bytes.len()].copy_from_slice(bytes);
        Some(Self { bytes: padded, length: bytes.len() })
    }

    /// Its bytes: 6, or 20 of InfiniBand.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    /// The part that identifies the hardware.
    fn identity(&self) -> &[u8] {
        let bytes = self.as_bytes();
        if self.is_infiniband() { &bytes[INFINIBAND - GUID..] } else { bytes }
    }

    /// True for six bytes.
    pub fn is_ethernet(&self) -> bool {
        self.length == ETHERNET
    }

    /// True for twenty bytes.
    pub fn is_infiniband(&self) -> bool {
        self.length == INFINIBAND
    }

    /// True for a multicast or broadcast address of Ethernet.
    pub fn is_group(&self) -> bool {
        self.is_ethernet() && self.bytes[0] & 1 == 1
    }

    /// True for a locally administered address of Ethernet: not the maker's, and possibly on many machines.
    pub fn is_local(&self) -> bool {
        self.is_ethernet() && self.bytes[0] & 2 != 0
    }

    /// True for all zeros, which the kernel reports for a device without an address.
    pub fn is_zero(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }
}

impl PartialEq for Mac {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for Mac {}

impl PartialOrd for Mac {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Mac {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity().cmp(other.identity())
    }
}

impl Hash for Mac {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}

/// `aa:bb:cc:dd:ee:ff`, in lower case.
impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, byte) in self.as_bytes().iter().enumerate() {
            let separator = if position == 0 { "" } else { ":" };
            write!(f, "{separator}{byte:02x}")?;
        }
        Ok(())
    }
}

/// The first bytes of an address, or all of them, as in a file name: `52-54-00`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MacPrefix(Vec<u8>);

impl MacPrefix {
    /// Parses a file name without its extension: two digits per byte, separated by hyphens.
    pub fn of_file_name(stem: &str) -> Option<Self> {
        let is_group = |group: &str| group.len() == 2;
        (stem.contains('-') && stem.split('-').all(is_group)).then(|| bytes(stem))?.map(Self)
    }

    /// The number of bytes.
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// True for as many bytes as an address has.
    pub fn is_address(&self) -> bool {
        Mac::from_bytes(&self.0).is_some()
    }

    /// True when these are all bytes of the address.
    pub fn is_whole(&self, mac: &Mac) -> bool {
        Mac::from_bytes(&self.0).is_some_and(|whole| whole == *mac)
    }

    /// True when these are the first bytes of the address, or all of them.
    pub fn matches(&self, mac: &Mac) -> bool {
        mac.as_bytes().starts_with(&self.0) || self.is_whole(mac)
    }
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    let separator = if text.contains(':') { ':' } else { '-' };
    let byte = |part: &str| {
        let is_hex = (1..=2).contains(&part.len()) && part.chars().all(|c| c.is_ascii_hexdigit());
        is_hex.then(|| u8::from_str_radix(part, 16).ok()).flatten()
    };
    text.split(separator).map(byte).collect()
}

/// The addresses in a text, in any notation, without all-zero ones.
pub fn mentioned(text: &[u8]) -> impl Iterator<Item = Mac> + use<'_> {
    let is_part = |byte: &u8| byte.is_ascii_hexdigit() || is_separator(*byte);
    let is_digit =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_hexdigit);
    // The end of the last word examined.
    let mut done = 0;
    memchr::memchr2_iter(b':', b'-', text).filter_map(move |at| {
        // Most separators end a key or begin an item: the neighbouring characters show it.
        if at < done || !is_digit(at.checked_sub(1)) || !is_digit(at.checked_add(1)) {
            return None;
        }
        let before = text[done..at].iter().rposition(|byte| !is_part(byte));
        let start = before.map_or(done, |before| done + before + 1);
        let length = text[at..].iter().position(|byte| !is_part(byte));
        done = length.map_or(text.len(), |length| at + length);
        let word = std::str::from_utf8(&text[start..done]).ok()?;
        Mac::parse(word.trim_matches([':', '-'])).filter(|mac| !mac.is_zero())
    })
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b':' | b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_in_every_notation() {
        let wanted = Mac::parse("52:54:00:0a:0b:0c");
        assert!(wanted.is_some());
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
            assert_eq!(found, wanted.as_slice(), "{text}");
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
            assert!(mentioned(text.as_bytes()).all(|mac| Some(mac) != wanted), "{text}");
        }
        assert_eq!(mentioned(b"00:00:00:00:00:00").next(), None);
    }

    #[test]
    fn file_names_hold_whole_bytes() {
        assert_eq!(MacPrefix::of_file_name("52-54-00"), Some(MacPrefix(vec![0x52, 0x54, 0])));
        assert_eq!(
            MacPrefix::of_file_name("AA-bb-CC-dd-EE-ff").map(|prefix| prefix.length()),
            Some(6)
        );
        for stem in ["52", "5-4", "52-54-0", "worker-0", "52:54:00", "52-54-", ""] {
            assert_eq!(MacPrefix::of_file_name(stem), None, "{stem}");
        }
    }

    #[test]
    fn it_is_shown_in_lower_case_with_colons() {
        let shown = |text: &str| Mac::parse(text).map(|mac| mac.to_string());
        assert_eq!(shown("52-54-0-A-B-C").as_deref(), Some("52:54:00:0a:0b:0c"));
        assert_eq!(shown("52:54:00:0a:0b"), None);
    }

    #[test]
    fn infinibands_ports_are_known_by_their_guid() {
        let mac = |queue: &str, guid: &str| {
            Mac::parse(&format!(
                "80:00:{queue}:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0a:{guid}"
            ))
        };
        assert!(mac("00:48", "6f").is_some());
        assert_eq!(mac("00:48", "6f"), mac("02:08", "6f"));
        assert_ne!(mac("00:48", "6f"), mac("00:48", "70"));
        // The end of one is no address of Ethernet's.
        assert_ne!(Mac::parse("c9:03:00:00:0a:6f"), mac("00:48", "6f"));
    }
}

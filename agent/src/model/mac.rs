//! MAC addresses, with the letters in which they were written.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A MAC address. The record and messages have the letters of the document that names it; those of the
/// kernel are lower case.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Mac {
    address: nmgen::Mac,
    text: String,
}

impl Mac {
    /// Reads an address as NMState writes it: two digits a byte, with colons.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let address = nmgen::Mac::parse(text)?;
        let is_whole = address.to_string().eq_ignore_ascii_case(text);
        is_whole.then(|| Self { address, text: text.to_owned() })
    }

    /// The address of an Ethernet device in the kernel, which has zeros for none.
    pub(crate) fn of_ethernet(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; 6] = bytes.try_into().ok()?;
        let address = nmgen::Mac::from_bytes(bytes).filter(|mac| !mac.is_zero())?;
        Some(Self { address, text: address.to_string() })
    }

    /// The address alone.
    pub(crate) fn address(&self) -> nmgen::Mac {
        self.address
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.address.as_bytes()
    }
}

impl PartialEq for Mac {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Mac {}

impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).ok_or_else(|| format!("{text} is no MAC address"))
    }
}

impl From<Mac> for String {
    fn from(mac: Mac) -> Self {
        mac.text
    }
}

#[cfg(test)]
mod tests {
    use super::Mac;

    #[test]
    fn an_address_is_the_same_in_any_letters_and_keeps_its_own() {
        let mac = |text| Mac::parse(text).expect("an address");
        assert_eq!(mac("52:54:00:0A:0b:01"), mac("52:54:00:0a:0B:01"));
        assert_ne!(mac("52:54:00:0a:0b:01"), mac("52:54:00:0a:0b:02"));
        assert_eq!(mac("52:54:00:0A:0b:01").to_string(), "52:54:00:0A:0b:01");
        for other in ["52-54-00-0a-0b-01", "52:54:0:a:b:1", "52:54:00", "", "eno1"] {
            assert_eq!(Mac::parse(other), None, "{other}");
        }
    }

    #[test]
    fn zeros_and_other_lengths_are_no_address_of_the_kernel() {
        let text = |bytes| Mac::of_ethernet(bytes).map(String::from);
        assert_eq!(text(&[0x52, 0x54, 0, 0x0a, 0xbb, 1]).as_deref(), Some("52:54:00:0a:bb:01"));
        assert_eq!((text(&[0; 6]), text(&[1; 20]), text(&[])), (None, None, None));
    }
}

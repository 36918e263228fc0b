//! A machine's identity, and the available documents.

use nmgen_document::mac::Mac;

use super::placeholder::HostName;

/// A physical network card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// Its name in the kernel.
    pub name: String,
    /// Its permanent address, not one set by a bond or a `.link` file.
    pub mac: Mac,
}

/// A DMI value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dmi {
    /// `serial number`, `system UUID`.
    pub what: &'static str,
    /// As the firmware reports it.
    pub value: String,
}

/// A machine's identity. Unknown parts are empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The host name, or a placeholder.
    pub host_name: HostName,
    /// The physical network cards.
    pub cards: Vec<Card>,
    /// The serial number first, then the UUID; placeholders among them.
    pub dmi: Vec<Dmi>,
}

/// The files of a directory of documents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// Names of `<name>.yml` without the extension.
    pub names: Vec<String>,
    /// Names of `<name>.yaml` without the extension: these files are ignored.
    pub ignored: Vec<String>,
}

impl Listing {
    /// Adds a file by its name; skips hidden files and other extensions.
    pub fn add(&mut self, file_name: &str) {
        match file_name.rsplit_once('.') {
            Some((stem, "yml")) if !stem.starts_with('.') && !stem.is_empty() => {
                self.names.push(stem.to_owned());
            }
            Some((stem, "yaml")) if !stem.starts_with('.') && !stem.is_empty() => {
                self.ignored.push(stem.to_owned());
            }
            _ => {}
        }
    }

    /// Sorts both lists, so that a decision doesn't depend on the file system's order.
    pub fn sort(&mut self) {
        self.names.sort_unstable();
        self.ignored.sort_unstable();
    }
}

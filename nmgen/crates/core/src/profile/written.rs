//! The written files: profiles, and files beside them.

use nmgen_document::text::place::Place;

use super::keyfile::Keyfile;

/// A NetworkManager connection profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `connection.id`; also the file name without `.nmconnection`, so it holds no separator.
    pub id: String,
    /// Its sections and keys.
    pub keyfile: Keyfile,
}

impl Profile {
    /// `<id>.nmconnection`.
    pub fn file_name(&self) -> String {
        format!("{}.nmconnection", self.id)
    }
}

/// A file beside the profiles, for fields that a profile cannot hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFile {
    /// Relative to the root file system, e.g. `etc/hostname`.
    pub path: String,
    /// Its text.
    pub content: String,
    /// The field that causes the file, e.g. `hostname.config`.
    pub field: String,
    /// The place of that field.
    pub place: Place,
}

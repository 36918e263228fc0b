//! What is written: a profile, and a file beside the profiles.

use super::keyfile::Keyfile;
use crate::text::place::Place;

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

/// A file beside the profiles that carries what a profile cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFile {
    /// Relative to the root file system, e.g. `etc/hostname`.
    pub path: String,
    /// Its text.
    pub content: String,
    /// The field that asked for it, e.g. `hostname.config`.
    pub field: String,
    /// Where that field stands.
    pub place: Place,
}

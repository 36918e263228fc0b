//! A directory of documents without one for this node.

use std::fmt;

use nmgen::node::{self, Identity, Listing, RUNNING};

/// Host files of other nodes alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unmatched {
    /// The names that this node looks for, best first.
    pub(crate) tried: Vec<String>,
    pub(crate) files: Vec<String>,
}

/// The longest list of file names in a message.
const NAMES: usize = 8;

impl Unmatched {
    pub(super) fn new(identity: &Identity, listing: &Listing) -> Self {
        let file = |name: String| format!("{name}.yml");
        Self {
            tried: node::names(RUNNING, identity).into_iter().map(file).collect(),
            files: listing.names.iter().cloned().map(file).collect(),
        }
    }
}

impl fmt::Display for Unmatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (tried, files) = (listed(&self.tried), listed(&self.files));
        write!(f, "no file is this node's: it looks for {tried}; there are {files}")
    }
}

fn listed(names: &[String]) -> String {
    let (first, rest) = names.split_at(names.len().min(NAMES));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    first.join(", ") + &more
}

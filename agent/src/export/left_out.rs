//! Parts that a document does not have, and why.

use std::fmt;

/// More names are a number.
const SHOWN: usize = 12;

/// Things that are left out for one reason.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftOut {
    what: Vec<String>,
    why: &'static str,
}

impl LeftOut {
    pub(super) fn new(what: impl IntoIterator<Item = String>, why: &'static str) -> Self {
        Self { what: what.into_iter().collect(), why }
    }

    /// Parts that no document has.
    pub(super) fn of_all() -> Vec<Self> {
        let hostname =
            Self::new(["the host name".to_owned()], "the system has it without NetworkManager");
        vec![hostname]
    }

    pub(super) fn is_empty(&self) -> bool {
        self.what.is_empty()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.what[..self.what.len().min(SHOWN)];
        f.write_str(&shown.join(", "))?;
        match self.what.len() - shown.len() {
            0 => {}
            more => write!(f, " and {more} more")?,
        }
        write!(f, ": {}", self.why)
    }
}

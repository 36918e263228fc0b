//! The result of one query.

use std::{cell::RefCell, collections::BTreeSet, net::IpAddr};

/// An answer in words, or the reason of its absence.
pub(super) type Answer = Result<String, String>;

/// An answer, with the targets that stayed silent.
#[derive(Debug)]
pub(super) struct Answered {
    pub(super) detail: String,
    pub(super) warning: Option<String>,
    /// The link of the gateway in use that answered.
    pub(super) link: Option<String>,
}

impl From<String> for Answered {
    fn from(detail: String) -> Self {
        Self { detail, warning: None, link: None }
    }
}

/// The addresses that the last attempt of a probe asked, without name servers of a single link: no route decides about those.
pub(super) type Targets = RefCell<BTreeSet<IpAddr>>;

/// Why no answer came.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// A later attempt may succeed.
    Yet(String),
    /// There is no target; a later attempt cannot succeed.
    Ever(String),
}

impl From<String> for NoAnswer {
    fn from(why: String) -> Self {
        Self::Yet(why)
    }
}

//! Faults of a node's years: between two boots, and longer than one.
//!
//! A [`Life`] is data: how the fault begins and how it ends, as [`Action`]s, and what holds meanwhile. [`faults`] has them all,
//! and [`chapter`] a part of a node's story with one or two of them. A new fault is an entry there; where no action makes it, a
//! new action too.

mod action;
mod chapter;
mod faults;
mod together;

pub(super) use self::{
    action::{Action, Deployment, OWN_SETTINGS, Other, PREPARED, Version},
    chapter::Chapter,
};
use super::node::Kind;

/// A fault of years.
#[derive(Debug)]
pub(super) struct Life {
    pub(super) name: &'static str,
    /// Two faults of one part do not come together.
    pub(super) part: Part,
    /// Whether it can meet a node of this kind.
    pub(super) meets: fn(Kind) -> bool,
    pub(super) begin: &'static [Action],
    pub(super) meanwhile: Meanwhile,
    pub(super) heal: &'static [Action],
    pub(super) ends: Ends,
}

/// The part of the node, or of its surroundings, that has the fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Network,
    Machine,
    Name,
    Etc,
    Disk,
    Settings,
    State,
    Version,
}

/// Promises while the fault is there. In all cases status is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meanwhile {
    /// The boot goes on, and the node has its network.
    Works,
    /// The boot goes on, with the network of before any document.
    Bare,
    /// kubelet may have to wait. The fault stays for three attempts.
    Told,
}

/// The moment at which the fault is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    /// While the node runs, or at a boot.
    Any,
    /// At a boot alone.
    Boot,
    /// Never: the node has to live with it.
    Stays,
}

impl PartialEq for Life {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

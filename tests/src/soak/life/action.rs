//! The actions that faults of years are made of.

use crate::lab;

/// A step of a fault's beginning or end; `$n` in a script is a number that chooses.
#[derive(Debug, Clone, Copy)]
pub(in crate::soak) enum Action {
    /// A script in the running node.
    Now(&'static str),
    /// A script in the next boot, before every service.
    Early(&'static str),
    /// A script in each boot, before every service, until the fault's end.
    EachBoot(&'static str),
    /// The peer's fault begins or ends.
    Peer(lab::Fault, bool),
    /// The cable is in, or out.
    Cable(bool),
    /// The gateway that the documents name is there, or not: another one always is.
    Gateway(bool),
    /// A card of another network is in the node, or not.
    OtherCard(bool),
    /// The disk is in another machine, or in a repaired one.
    Machine(Other),
    /// The `/etc` of another deployment.
    Deployment(Deployment),
    /// Another version of the agent.
    Version(Version),
}

/// The machine that has the disk from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::soak) enum Other {
    Card,
    Board,
    Machine,
}

/// A deployment of the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::soak) enum Deployment {
    /// The one that was kept last.
    Earlier,
    /// One of before any document; the present one is kept.
    Bare,
    /// The one of before [`Self::Bare`].
    Present,
}

/// A version of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::soak) enum Version {
    Older,
    This,
}

/// The agent's settings, for whoever puts them back.
pub(in crate::soak) const OWN_SETTINGS: &str = "/root/lab-dayone.toml";

/// Runs the scripts of [`Action::Early`] and [`Action::EachBoot`]. A power cut leaves the first kind for the next boot.
pub(in crate::soak) const PREPARED: &str = "\
#!/bin/sh -eu
for it in /root/lab-each-*; do [ ! -e \"$it\" ] || sh -eu \"$it\"; done
for it in /root/lab-once-*; do [ ! -e \"$it\" ] || { sh -eu \"$it\" && rm \"$it\"; }; done
";

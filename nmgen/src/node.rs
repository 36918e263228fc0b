//! Which document is this machine's: `nmgen boot` asks in the initramfs, the agent on the running node.
//!
//! Pure: names and listings in, a decision and its reason out. Where the two stages differ, the caller says so by an
//! argument: the order of the tiers ([`INITRAMFS`], [`RUNNING`]), and one document or the first ([`only`], [`select`]).

mod candidate;
mod decision;
mod empty;
mod known;
mod placeholder;
mod precedence;

pub use self::candidate::{Candidate, Reason, candidates};
pub use self::decision::{Selection, Warning, has_host_files, only, select};
pub use self::empty::is_empty;
pub use self::known::{Card, Dmi, Identity, Listing};
pub use self::placeholder::{HostName, names_a_machine};
pub use self::precedence::{CLUSTER, INITRAMFS, RUNNING, Tier};

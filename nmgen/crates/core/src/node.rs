//! Chooses a machine's document: for `nmgen boot` in the initramfs, and for the agent on the running
//! node.
//!
//! Pure: names and listings in, a decision and its reason out. The two stages differ by arguments:
//! the order of the tiers ([`INITRAMFS`], [`RUNNING`]), and a unique document or the first ([`only`],
//! [`select`]).

mod candidate;
mod decision;
mod empty;
mod known;
mod placeholder;
mod precedence;

pub use self::candidate::{Candidate, Reason, candidates, names};
pub use self::decision::{Selection, Warning, has_host_files, only, select};
pub use self::empty::is_empty;
pub use self::known::{Card, Dmi, Identity, Listing};
pub use self::placeholder::{HostName, names_a_machine, short_host_name};
pub use self::precedence::{CLUSTER, INITRAMFS, RUNNING, Tier};

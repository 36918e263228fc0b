//! `make soak`: random faults on nodes of the lab, each followed by what has to hold.
//!
//! A campaign has nodes, one after the other, and each node has a story ([`story`]), drawn from the campaign's seed and the node's
//! number alone: works of the agent, the faults that meet them ([`fault`]), and when. [`node`] has the kinds of nodes. [`scene`]
//! carries a story out. Moments are parts of the time that the same work took on this node without a fault, so that a story means
//! the same on a slow host. [`life`] has the faults that outlast a boot, and what holds while they are there; [`truth`] holds the
//! status to the truth at any moment. [`invariant`] has the promises:
//!
//! - When the agent's units are active, no transaction is open, and `applied`, the last good document, the record and the status
//!   agree: the network is the one of before or the new one, as told.
//! - The peer reaches the node, and the profiles and the kernel have the settings of the document that `applied` says, all of them.
//! - Damage from outside that comes behind the agent's back, such as a flushed address, is nobody's to undo until the agent runs
//!   again: its next start brings the network back.
//! - The node's document is in force after that start. A document that does not hold leaves the last good one in force.
//! - kubelet starts, and not before the network is there.

pub mod campaign;
mod evidence;
mod fault;
mod invariant;
mod life;
mod load;
mod machine;
mod node;
mod random;
mod scene;
mod story;
mod truth;

//! Every state that a crash can leave a node's disk in, at any moment of a transaction.

mod agent;
mod bridge;
mod document;
mod interrupted;
mod node;
mod recorded;
mod recovery;

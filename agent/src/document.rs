//! This node's document: identity, selection, reading, checks.

pub(crate) mod changes;
pub(crate) mod check;
mod choose;
mod committed;
pub(crate) mod digest;
pub(crate) mod identity;
pub(crate) mod machine_config;
mod read;
pub(crate) mod service_files;
pub(crate) mod unmatched;

pub(crate) use self::{
    choose::{Chosen, choose, given},
    committed::InForce,
    read::{Document, DocumentError},
};

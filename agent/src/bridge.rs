//! The automatic br-ex: which interface becomes its uplink, and which profiles make it. Pure, but
//! for `gather`.

mod document;
pub(crate) mod error;
pub(crate) mod families;
pub(crate) mod gather;
pub(crate) mod inputs;
mod losses;
pub(crate) mod names;
pub(crate) mod plan;
pub(crate) mod planner;
mod profiles;
mod removal;
mod source;
pub(crate) mod uplink;

pub(crate) use self::document::{
    empty::{drop_empty, some},
    ip,
};

#[cfg(test)]
mod tests;

//! The automatic br-ex: which interface becomes its uplink, and which profiles make it. Pure, but
//! for `gather`.

pub(crate) mod error;
pub(crate) mod inputs;
pub(crate) mod names;
pub(crate) mod plan;
pub(crate) mod uplink;

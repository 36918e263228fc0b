//! The commands, one a file.

mod apply;
mod decide;
mod diff;
mod drift;
mod last_good;
mod mtu_migration;
mod outcome;
mod output;
mod recover;
mod rollback;
mod signals;
mod status;
mod undecided;

pub(crate) use apply::apply;
pub(crate) use diff::diff;
pub(crate) use recover::recover;
pub(crate) use rollback::rollback;
pub(crate) use status::status;

//! The subcommands, one file each.

mod adopt;
mod apply;
mod attempt;
mod bridge;
mod check;
mod decide;
mod diff;
mod drift;
mod dry_run;
mod fall_back;
mod in_force;
mod keep_trying;
mod last_good;
mod marks;
mod outcome;
mod output;
mod peers;
mod plan;
mod proof;
mod recover;
mod removed;
mod retry;
mod rollback;
mod signals;
mod status;
mod trial;
mod turn;
mod wait;

pub(crate) use apply::apply;
pub(crate) use bridge::bridge;
pub(crate) use check::check;
pub(crate) use diff::diff;
pub(crate) use dry_run::dry_run;
pub(crate) use keep_trying::{keep_applying, keep_bridging};
pub(crate) use plan::plan;
pub(crate) use recover::recover;
pub(crate) use rollback::rollback;
pub(crate) use status::status;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use status::text as status_text;
pub(crate) use trial::{ask, confirm, trial};
pub(crate) use wait::wait;

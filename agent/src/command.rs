//! The subcommands, one file each.

mod adopt;
mod apply;
mod bridge;
mod check;
mod collect;
mod confirm;
mod diff;
mod difference;
mod dry_run;
mod export;
mod gateway;
mod health;
mod mtu_migration;
mod output;
mod plan;
mod probe;
mod recover;
mod rollback;
mod services;
mod status;
mod trial;
mod wait;

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use self::status::text as status_text;
pub(crate) use self::{
    adopt::{Adoption, adopt},
    apply::apply,
    bridge::bridge,
    check::check,
    collect::collect,
    confirm::confirm,
    diff::diff,
    dry_run::dry_run,
    export::{export, export_last_good},
    health::health,
    mtu_migration::mtu_migration,
    plan::plan,
    probe::probe,
    recover::recover,
    rollback::rollback,
    status::status,
    trial::ask,
    wait::wait,
};

//! A document on trial: asked for in a terminal, carried out by dayone-trial.service, confirmed in another
//! terminal.

mod account;
mod ask;
mod carry_out;
mod confirm;
mod follow;

pub(crate) use self::{ask::ask, carry_out::trial, confirm::confirm};

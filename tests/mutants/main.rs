//! `make mutants`: changes the programs in one place after the other, and lists the changes that no case notices.
//!
//! cargo-mutants lists the changes. A build for each would take a day, so one build has them all behind a switch, every case notes
//! which ones it reaches, and each change runs against those cases alone.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

mod cases;
mod each;
mod edit;
mod error;
mod judge;
mod judged;
mod list;
mod place;
mod prepare;
mod report;
mod run;
mod survivors;
mod switch;

use std::{env, process::ExitCode};

use self::error::Error;
use self::place::Place;

fn main() -> ExitCode {
    let place = Place { root: tests::program::root().to_owned() };
    let result = match env::args().nth(1).as_deref() {
        Some("prepare") => prepare::prepare(&place).map(|()| true),
        Some("judge") => judge::judge(&place),
        _ => Err(Error::Usage),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            println!("mutants: {}", nmgen::chain(&error));
            ExitCode::from(2)
        }
    }
}

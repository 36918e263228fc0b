//! The agent's ways to a node, with the real podman and a real registry. `make check-delivery` runs them, not `make check-all`.

#![allow(clippy::print_stdout, reason = "measures for whoever reads the run")]

mod image;
mod install;
mod layer;
mod packages;

use std::time::Instant;

use tests::{
    dayone::{br_ex_works, finished, outcome},
    lab::{Case, Error, Inside},
};

/// Boots, anew after the first time, and checks that the document is in force; prints the boot's time behind `what`.
fn boots_with_br_ex(case: &mut Case<'_>, boot: usize, what: &str) -> Result<Inside, Error> {
    let start = Instant::now();
    match boot {
        0 => case.boot()?,
        _ => case.reboot()?,
    };
    let inside = case.inside()?;
    finished(&inside)?;
    println!("{what}boot {boot}: {:.1?}", start.elapsed());
    outcome(&inside, None)?.exits(0);
    br_ex_works(case)?;
    Ok(inside)
}

fn main() -> std::process::ExitCode {
    tests::suite::run()
}

//! `make soak`: random faults for MINUTES on nodes of the lab. SEED repeats a campaign, SEED and CASE the story of one
//! node.
//! JOBS: nodes at a time; PLACES=own: beside the suites' containers, in place of among them. YEARS=off: without faults that
//! outlast a boot. OLDER_DAYONE: an older version of the agent, which some nodes have for a while.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    env,
    process::ExitCode,
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tests::{program, skip, soak::campaign::Campaign};

const MINUTES: u64 = 30;
/// Two nodes a core: a node waits most of its time.
const A_CORE: u64 = 2;

fn main() -> ExitCode {
    if skip::is_lab_off() {
        println!("soak: no node is met, LAB=off");
        return ExitCode::SUCCESS;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let seed = number("SEED").unwrap_or(now);
    let case = number("CASE");
    let minutes = number("MINUTES").unwrap_or(MINUTES);
    let time = case.is_none().then(|| Duration::from_secs(60 * minutes));
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let jobs = number("JOBS").unwrap_or(cores * A_CORE);
    match case {
        Some(case) => println!("soak: SEED={seed} CASE={case}"),
        None => println!("soak: {minutes} minutes, SEED={seed}"),
    }
    let years = env::var("YEARS").as_deref() != Ok("off");
    if years && program::older_dayone().is_none() {
        println!("soak: without an older version of the agent, which OLDER_DAYONE names");
    }
    let own_places = env::var("PLACES").as_deref() == Ok("own");
    let campaign =
        Campaign { seed, first: case.unwrap_or_default(), time, jobs, years, own_places };
    match campaign.run(|line| println!("{line}")) {
        Ok(report) => {
            println!("soak: {report}, SEED={seed}");
            if report.lost == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            println!("soak: {error:?}");
            ExitCode::FAILURE
        }
    }
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok()?.parse().ok()
}

//! `make soak`: random faults for MINUTES on nodes of the lab. SEED repeats a campaign, SEED and CASE the story of one node.

#![allow(clippy::print_stdout, reason = "a program for people to read")]

use std::{
    env,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tests::soak::campaign::Campaign;

const MINUTES: u64 = 30;

fn main() -> ExitCode {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |since| since.as_secs());
    let seed = number("SEED").unwrap_or(now);
    let case = number("CASE");
    let minutes = number("MINUTES").unwrap_or(MINUTES);
    let time = case.is_none().then(|| Duration::from_secs(60 * minutes));
    match case {
        Some(case) => println!("soak: SEED={seed} CASE={case}"),
        None => println!("soak: {minutes} minutes, SEED={seed}"),
    }
    let campaign = Campaign { seed, first: case.unwrap_or_default(), time };
    match campaign.run(|line| println!("{line}")) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(report)) => {
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

//! The reference: the nmstate crate's own `apply()` and verification of the document or policy on
//! standard input. Prints the milliseconds it took.

#![allow(clippy::print_stdout, reason = "a program of the benchmark")]

use std::{io::Read as _, time::Instant};

use nmstate::{NetworkPolicy, NetworkState};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let start = Instant::now();
    let state = match NetworkState::new_from_yaml(&text) {
        Ok(state) => state,
        Err(_) => NetworkState::try_from(serde_yaml::from_str::<NetworkPolicy>(&text)?)?,
    };
    state.apply()?;
    println!("{:.1}", start.elapsed().as_secs_f64() * 1e3);
    Ok(())
}

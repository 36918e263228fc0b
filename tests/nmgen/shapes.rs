//! Each list and each map of a document, grown to a mebibyte, takes memory and time in proportion on every command.
//!
//! A run draws shapes and commands by `SEED=`: always the same ones without it, since a check that fails by chance says nothing
//! about the change it checks. `SHAPES=all` (`make shapes`) measures all of them by doubling, and prints a table; another text
//! measures those that have it in their line of the table.

#![allow(clippy::print_stdout, reason = "a measure for whoever reads the run")]

use std::fs;
use std::path::Path;
use std::process::Command;

use proptest::prelude::Rng as _;
use proptest::test_runner::{RngAlgorithm, TestRng};
use tests::machine::Machine;
use tests::measure::{self, Cost};
use tests::program;
use tests::shapes::{self, Shape};

const MEBIBYTE: usize = 1 << 20;
/// The sizes that a draw compares.
const DRAWN: [usize; 2] = [MEBIBYTE / 4, MEBIBYTE];
const DOUBLED: [usize; 5] = [MEBIBYTE / 16, MEBIBYTE / 8, MEBIBYTE / 4, MEBIBYTE / 2, MEBIBYTE];

/// Bytes of memory, and what an initramfs has.
const MEMORY: u64 = 150 << 20;
const MEMORY_OF_A_BOOT: u64 = 60 << 20;
/// Seconds for a mebibyte; those of the programs of nodes, which are compiled for size.
const SECONDS: f64 = 1.0;
const SECONDS_ON_A_NODE: f64 = 1.5;
/// The growth of time with size: 1 is in proportion.
const EXPONENT: f64 = 1.2;
/// A shorter time is that of a start.
const MEASURABLE: f64 = 0.2;
/// The number of drawn runs, which take about a minute of a processor.
const DRAWS: usize = 5;

/// The commands on a document; `-` is the one of `nmgen boot`.
const COMMANDS: &[&[&str]] = &[
    &["check", "a.yml"],
    &["check", "--format", "sarif", "a.yml"],
    &["gc", "a.yml"],
    &["generate", "--to", "machine-config", "--role", "worker", "a.yml"],
    &["show", "a.yml"],
    &["show", "--format", "json", "a.yml"],
    &["show", "--format", "svg", "a.yml"],
    &["show", "--format", "html", "a.yml"],
    &["diff", "none.yml", "a.yml"],
    &["dayone", "check", "--document", "a.yml"],
    &["boot"],
];
const OF_ACCOUNTS: &[&[&str]] = &[&["report", "a.yml"]];

/// A shape, a command and the form of the text.
struct Run<'s> {
    shape: &'s Shape,
    command: &'s [&'s str],
    is_one_line: bool,
}

impl Run<'_> {
    fn name(&self) -> String {
        let form = if self.is_one_line { ", one line" } else { "" };
        format!("{} | {}{form}", self.command.join(" "), self.shape.name)
    }

    fn cost(&self, place: &Path, bytes: usize) -> Cost {
        let text = self.shape.text(bytes, self.is_one_line);
        if self.command == ["boot"] {
            // What runs there is the program of the initramfs.
            let machine = Machine::with_card().host("cluster", &text);
            let mut command = Command::new(program::nmgen_ramdisk());
            return measure::run(command.args(["boot", "--root"]).arg(machine.path(""))).unwrap();
        }
        fs::write(place.join("a.yml"), text).unwrap();
        let (program, arguments) = match self.command {
            ["dayone", arguments @ ..] => (program::dayone(), arguments),
            arguments => (program::nmgen(), arguments),
        };
        measure::run(Command::new(program).args(arguments).current_dir(place)).unwrap()
    }

    /// The faults of costs by size; a time is that of the quickest of three runs where it seems too long.
    fn faults(&self, place: &Path, costs: &mut [(usize, Cost)]) -> Vec<String> {
        let most = if self.command == ["boot"] { MEMORY_OF_A_BOOT } else { MEMORY };
        let mut faults = Vec::new();
        for (bytes, cost) in costs.iter() {
            if cost.peak_memory > most {
                faults.push(format!(
                    "{}: {bytes} bytes take {} MB",
                    self.name(),
                    cost.peak_memory >> 20
                ));
            }
            if !matches!(cost.exit_code, Some(0..=3)) {
                faults.push(format!("{}: exit code {:?}", self.name(), cost.exit_code));
            }
        }
        for at in 1..costs.len() {
            for turn in 0..3 {
                let (smaller, larger) = (costs[at - 1], costs[at]);
                let (before, after) = (smaller.1.cpu.as_secs_f64(), larger.1.cpu.as_secs_f64());
                let exponent = (after / before).ln() / (larger.0 as f64 / smaller.0 as f64).ln();
                if after < MEASURABLE || exponent <= EXPONENT {
                    break;
                }
                if turn == 2 {
                    faults.push(format!(
                        "{}: {before:.2} s, then {after:.2} s for {} bytes",
                        self.name(),
                        larger.0
                    ));
                }
                for (bytes, cost) in &mut costs[at - 1..=at] {
                    let again = self.cost(place, *bytes);
                    cost.cpu = cost.cpu.min(again.cpu);
                }
            }
        }
        faults
    }
}

#[tests::case]
fn a_document_takes_memory_and_time_in_proportion_to_its_size() {
    let place = tempfile::tempdir().unwrap();
    let at = place.path();
    fs::write(at.join("none.yml"), "interfaces:\n- {name: eth0, type: ethernet}\n").unwrap();
    let (documents, accounts) = (shapes::of_documents(), shapes::of_accounts().unwrap());
    let pairs = |shapes: &'static [&'static [&'static str]]| shapes.iter().copied();
    let mut runs: Vec<Run<'_>> = Vec::new();
    for (shapes, commands) in [(&documents, COMMANDS), (&accounts, OF_ACCOUNTS)] {
        for (number, shape) in shapes.iter().enumerate() {
            runs.extend(pairs(commands).map(|command| Run {
                shape,
                command,
                is_one_line: number % 2 == 1,
            }));
        }
    }
    let faults = match std::env::var("SHAPES") {
        Ok(name) => {
            runs.retain(|run| name == "all" || run.name().contains(&name));
            all(at, &runs)
        }
        Err(_) => drawn(at, &mut runs),
    };
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n"));
}

/// The first runs in the order that a seed gives.
fn drawn(place: &Path, runs: &mut [Run<'_>]) -> Vec<String> {
    let asked = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = asked.unwrap_or(1);
    let mut faults = Vec::new();
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    runs.sort_by_cached_key(|_| random.next_u32());
    for run in runs.iter().take(DRAWS) {
        let mut costs = DRAWN.map(|bytes| (bytes, run.cost(place, bytes)));
        faults.extend(run.faults(place, &mut costs));
        println!("SEED={seed}: {}", run.name());
    }
    faults
}

/// All of them, with a line each of the largest size.
fn all(place: &Path, runs: &[Run<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    for run in runs {
        let mut costs = DOUBLED.map(|bytes| (bytes, run.cost(place, bytes)));
        faults.extend(run.faults(place, &mut costs));
        let [.., (bytes, cost)] = costs;
        let (seconds, memory) = (cost.cpu.as_secs_f64(), cost.peak_memory >> 20);
        println!("{} | {bytes} | {memory} MB | {seconds:.2} s | {:?}", run.name(), cost.exit_code);
        let is_of_nodes = matches!(run.command[0], "boot" | "dayone");
        let most = if is_of_nodes { SECONDS_ON_A_NODE } else { SECONDS };
        if program::is_shipped() && seconds > most {
            faults.push(format!("{}: {seconds:.2} s", run.name()));
        }
    }
    faults
}

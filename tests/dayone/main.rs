//! The agent in the lab's containers, and the lab itself.

mod adoption;
mod apply;
mod attempts;
mod bridge;
mod causes;
mod choice;
mod crash;
mod derived;
mod failures;
mod field;
mod flakes;
mod gateways;
mod hung;
mod interrupted;
mod keyfiles;
mod lab;
mod last_good;
mod memory;
mod migration;
mod offline;
mod older;
mod pending;
mod plan;
mod pod;
mod policies;
mod removed;
mod runbook;
mod second_boot;
mod service;
mod service_files;
mod status;
mod trial;
mod units;
mod verdicts;
mod waves;
mod wire;
mod without_lab;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}

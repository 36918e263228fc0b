//! The suite without a lab: nmgen, and the installation of both programs.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod ablation;
mod alerts;
mod allowed;
mod bad_input;
mod boot;
mod checks;
mod clients;
mod clusters;
mod command_line;
mod containers;
mod corpus;
mod derive;
mod diff;
mod disturbed;
mod drop_in;
mod edges;
mod exit_codes;
mod findings;
mod fixtures;
mod fleet;
mod fuzz;
mod hardware;
mod ignition;
mod install;
mod installer;
mod kargs;
mod kinds;
mod mistakes;
mod networkmanager;
mod nics;
mod node_state;
mod packages;
mod page;
mod pictures;
mod property;
mod ramdisk;
mod readme;
mod report;
mod round_trip;
mod sbom;
mod schemas;
mod selection;
mod shapes;
mod snippets;
mod sources;
mod stages;
mod support;
mod targets;
mod tidy;
mod trees;
mod trust;
mod two_clusters;
mod write;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}

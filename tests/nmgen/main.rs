//! The suite without a lab: nmgen, and the installation of both programs.

mod ablation;
mod bad_input;
mod boot;
mod checks;
mod command_line;
mod corpus;
mod diff;
mod drop_in;
mod fixtures;
mod fleet;
mod ignition;
mod install;
mod kargs;
mod mistakes;
mod networkmanager;
mod nics;
mod packages;
mod property;
mod ramdisk;
mod readme;
mod round_trip;
mod snippets;
mod sources;
mod targets;
mod tidy;
mod write;

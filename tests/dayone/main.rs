//! The agent in the lab's containers, and the lab itself.

mod adoption;
mod apply;
mod attempts;
mod bridge;
mod choice;
mod derived;
mod failures;
mod field;
mod flakes;
mod gateways;
mod interrupted;
mod lab;
mod last_good;
mod migration;
mod offline;
mod pending;
mod plan;
mod policies;
mod removed;
mod second_boot;
mod service;
mod service_files;
mod status;
mod units;
mod verdicts;
mod without_lab;

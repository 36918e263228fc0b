//! The two-stage boot in a virtual machine: nmgen in the initramfs, real Ignition, the pivot, the agent.

mod bond;
mod bootstrap;
mod broken;
mod fallback;
mod late;
mod live;
mod offline;
mod root_disk;
mod stock;

/// A case fails by a panic of its own assertions or by an error of the lab.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}

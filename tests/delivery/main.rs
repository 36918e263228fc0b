//! The agent's ways to a node, with the real podman and a real registry: `make check-delivery` runs them, `make check` does not.

#![allow(clippy::print_stdout, reason = "measures for whoever reads the run")]

mod image;
mod install;
mod layer;

fn main() -> std::process::ExitCode {
    tests::suite::run()
}

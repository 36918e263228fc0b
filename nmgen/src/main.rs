//! The program `nmgen`.

use std::process::ExitCode;

fn main() -> ExitCode {
    nmgen::cli::main(std::env::args_os())
}

//! The program `dayone`.

use std::process::ExitCode;

fn main() -> ExitCode {
    dayone::main()
}

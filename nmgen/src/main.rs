//! The program `nmgen`.

use std::process::ExitCode;

/// A fleet's documents are millions of small allocations.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    nmgen::cli::main(std::env::args_os())
}

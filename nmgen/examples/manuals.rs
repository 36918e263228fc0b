//! Writes the man pages and shell completions of `nmgen` into a directory.
//!
//! An example rather than a build script, since a build for a ramdisk needs no manuals.

use std::error::Error;
use std::path::PathBuf;

use clap_complete::Shell;

fn main() -> Result<(), Box<dyn Error>> {
    let directory: PathBuf = std::env::args_os().nth(1).ok_or("usage: manuals DIRECTORY")?.into();
    std::fs::create_dir_all(&directory)?;
    clap_mangen::generate_to(nmgen::cli::command(), &directory)?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut nmgen::cli::command(), "nmgen", &directory)?;
    }
    Ok(())
}

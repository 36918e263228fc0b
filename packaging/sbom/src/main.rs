//! The software bill of materials of one program: the crates that cargo links into it for this target and these features, with
//! version, licence and checksum, the C libraries that they compile, the standard library, and the C libraries of a static program.
//! Nothing in it names the machine or the time of the build, so that the same sources make the same bytes.

mod bill;
mod command;
mod component;
mod embedded;
mod error;
mod licences;
mod lock;
mod sources;
mod toolchain;
mod tree;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::error::Error;

/// Write the software bill of materials of a program, as CycloneDX, and its licences.
#[derive(Debug, Parser)]
struct Arguments {
    /// Name of the program
    #[arg(long)]
    name: String,
    /// Target that it is built for
    #[arg(long)]
    target: String,
    /// Statically linked
    #[arg(long = "static")]
    is_static: bool,
    /// File to write
    #[arg(long)]
    output: PathBuf,
    /// File to write with the licence of each component and every licence text
    #[arg(long)]
    licences: PathBuf,
    /// Package and features, as `cargo build` takes them
    #[arg(last = true, required = true)]
    package: Vec<String>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "sbom: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Error> {
    let tree = tree::read(&arguments.package, &arguments.target)?;
    let lock = lock::read(Path::new("Cargo.lock"))?;
    let mut toolchain = vec![toolchain::standard_library()?];
    if arguments.is_static {
        toolchain.push(toolchain::c_library()?);
        toolchain.push(toolchain::compiler_library()?);
    }
    let build = [
        ("build:target", arguments.target.as_str()),
        ("build:cargo", &arguments.package.join(" ")),
        ("build:linking", if arguments.is_static { "static" } else { "dynamic" }),
    ];
    let mut sources = sources::read()?;
    let embedded = embedded::libraries(&tree, &mut sources)?;
    let bill = bill::Bill::new(&arguments.name, &tree, &lock, &embedded, toolchain, &build)?;
    write(&arguments.output, &bill.text()?)?;
    write(&arguments.licences, &licences::page(&bill.all(), &sources)?)
}

/// Writes a file, and the directories above it.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write { path: path.to_owned(), source };
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory).map_err(failed)?;
    }
    std::fs::write(path, text).map_err(failed)
}

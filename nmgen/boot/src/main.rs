//! The program `nmgen` of an initramfs: the steps of a boot, and one document for whoever repairs it by hand. Exit codes: 0 done,
//! 1 failure of this machine, 2 wrong input or call.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt as _};
use nmgen_boot::{End, Step};
use nmgen_core::profile::Configuration;
use nmgen_core::source::{Host, read_file};
use nmgen_core::{convert, output, write};
use nmgen_document::diagnostic::{Diagnostics, Style, render_report};
use nmgen_document::error::Error;
use nmgen_document::format::{chain, printable};

const HELP: &str = "\
Turns an NMState document into safe NetworkManager connection profiles.

This is the program of an initramfs: on a workstation nmgen reads more
kinds of sources, and writes more forms.

Usage: nmgen <COMMAND>

Commands:
  generate  Write connection profiles
  gc        Print profiles as `nmstatectl gc` does
  check     Report faults of a document
  boot      Choose this machine's document, write its profiles

Options:
  -h, --help     Print help
  -V, --version  Print version

Exit codes:
  0  done; there may be warnings
  1  failure on this machine (reading, writing)
  2  wrong input or wrong call; nothing was written
";

const GENERATE: &str = "\
Write connection profiles

Usage: nmgen generate [-o DIR] FILE

Arguments:
  FILE  An NMState document (YAML or JSON), '-' for standard input

Options:
  -o, --output DIR  Directory for the files [default: standard output]
  -h, --help        Print help
";

const GC: &str = "\
Print profiles as `nmstatectl gc` does

Usage: nmgen gc FILE

Arguments:
  FILE  An NMState document (YAML or JSON), '-' for standard input

Options:
  -h, --help  Print help
";

const CHECK: &str = "\
Report faults of a document

Usage: nmgen check FILE

Arguments:
  FILE  An NMState document (YAML or JSON), '-' for standard input

Options:
  -h, --help  Print help
";

const BOOT: &str = "\
Choose this machine's document, write its profiles

Usage: nmgen boot [--persist | --release | --explain] [--root DIR]

Options:
      --persist   Before the pivot: bring the profiles to /sysroot
      --release   After NetworkManager: give way to the system's profiles
      --explain   Say what is chosen and whose the profiles are; change nothing
      --root DIR  Read and write everything below this directory [default: /]
  -h, --help      Print help

";

enum Call {
    Generate {
        source: String,
        directory: Option<PathBuf>,
    },
    Gc {
        source: String,
    },
    Check {
        source: String,
    },
    Boot {
        step: Step,
        root: PathBuf,
    },
    /// Prints a text: help, or the version.
    Print(String),
}

fn main() -> ExitCode {
    let end = match call(Parser::from_env()) {
        Ok(Call::Generate { source, directory }) => generate(&source, directory.as_deref()),
        Ok(Call::Gc { source }) => gc(&source),
        Ok(Call::Check { source }) => check(&source),
        // Messages go to the kernel log and to standard error, one line each.
        Ok(Call::Boot { step, root }) => Ok(nmgen_boot::run(&root, step)),
        Ok(Call::Print(text)) => print(text.as_bytes()).map(|()| End::Done),
        Err(error) => {
            tell(&format!("nmgen: {error}; see nmgen --help\n"));
            Ok(End::InputWrong)
        }
    };
    match end {
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::InputWrong) => ExitCode::from(2),
        Ok(End::Failed) => ExitCode::from(1),
        Err(error) => {
            tell(&format!("nmgen: {}\n", chain(&error)));
            ExitCode::from(1)
        }
    }
}

/// clap, which the program of pipelines has, is a tenth of this one.
fn call(mut parser: Parser) -> Result<Call, lexopt::Error> {
    let command = match parser.next()? {
        None => return Err("a command is missing".into()),
        Some(Short('h') | Long("help")) => return Ok(Call::Print(HELP.to_owned())),
        Some(Short('V') | Long("version")) => {
            return Ok(Call::Print(format!("nmgen {}\n", nmgen_core::VERSION)));
        }
        Some(Value(command)) => command.string()?,
        Some(argument) => return Err(argument.unexpected()),
    };
    let help = match &*command {
        "generate" => GENERATE.to_owned(),
        "gc" => GC.to_owned(),
        "check" => CHECK.to_owned(),
        "boot" => format!("{BOOT}{}\n", nmgen_boot::HELP),
        "help" => return Ok(Call::Print(HELP.to_owned())),
        _ => return Err(format!("there is no command '{command}'").into()),
    };
    let (mut source, mut directory, mut step, mut root) = (None, None, None, None);
    while let Some(argument) = parser.next()? {
        match (&*command, argument) {
            (_, Short('h') | Long("help")) => return Ok(Call::Print(help)),
            ("generate", Short('o') | Long("output")) if directory.is_none() => {
                directory = Some(parser.value()?.into());
            }
            ("generate" | "gc" | "check", Value(value)) if source.is_none() => {
                source = Some(value.string()?);
            }
            ("boot", Long("persist")) if step.is_none() => step = Some(Step::Persist),
            ("boot", Long("explain")) if step.is_none() => step = Some(Step::Explain),
            ("boot", Long("release")) if step.is_none() => step = Some(Step::Release),
            ("boot", Long("root")) if root.is_none() => root = Some(parser.value()?.into()),
            (_, argument) => return Err(argument.unexpected()),
        }
    }
    if command == "boot" {
        let root = root.unwrap_or_else(|| PathBuf::from("/"));
        return Ok(Call::Boot { step: step.unwrap_or(Step::Prepare), root });
    }
    let source = source.ok_or("FILE is missing")?;
    Ok(match &*command {
        "generate" => Call::Generate { source, directory },
        "gc" => Call::Gc { source },
        _ => Call::Check { source },
    })
}

/// Writes all files of the document, or shows them as one stream.
fn generate(source: &str, directory: Option<&Path>) -> Result<End, Error> {
    let (configuration, diagnostics) = converted(source)?;
    report(&diagnostics);
    if diagnostics.has_errors() {
        return Ok(End::InputWrong);
    }
    let files = output::files(&configuration, &[]);
    match directory {
        Some(directory) => write::write(directory, &files)?,
        None => print(&output::shown(&files))?,
    }
    Ok(End::Done)
}

fn gc(source: &str) -> Result<End, Error> {
    let (configuration, mut diagnostics) = converted(source)?;
    diagnostics.merge(output::gc_losses(&configuration));
    let text = output::gc(Some(&configuration))?;
    report(&diagnostics);
    if diagnostics.has_errors() {
        return Ok(End::InputWrong);
    }
    print(&text)?;
    Ok(End::Done)
}

fn check(source: &str) -> Result<End, Error> {
    let (_, diagnostics) = converted(source)?;
    report(&diagnostics);
    if diagnostics.is_empty() {
        tell(&format!("1 host in {}, no errors\n", printable(source)));
    }
    Ok(if diagnostics.has_errors() { End::InputWrong } else { End::Done })
}

/// The configuration of a file's document, and all of its diagnostics.
fn converted(path: &str) -> Result<(Configuration, Diagnostics), Error> {
    let mut diagnostics = Diagnostics::default();
    let source = read_file::document(path, &mut diagnostics)?;
    let host = source.and_then(|source| diagnostics.accept(Host::of_file(None, &source)));
    Ok(match host {
        Some(host) => convert::convert_alone(&host, diagnostics),
        None => (Configuration::default(), diagnostics),
    })
}

fn report(diagnostics: &Diagnostics) {
    tell(&render_report(diagnostics, Style::of_terminal(io::stderr().is_terminal())));
}

fn print(bytes: &[u8]) -> Result<(), Error> {
    let mut output = io::stdout();
    let written = output.write_all(bytes).and_then(|()| output.flush());
    written.map_err(|source| Error::WriteOutput { source })
}

/// Writes to standard error. If that is closed, there is no place left to report it.
fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

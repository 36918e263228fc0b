//! The arguments and their help texts. At most 80 columns: the program for an initramfs does not wrap them.

use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand};

use super::edition::{
    DrawingArguments, EXAMPLES, FindingArguments, FormArguments, Format, Further, LiveArguments,
    SOURCE, To,
};
use super::selection::SelectionArguments;

const EXIT_CODES: &str = "\
Exit codes:
  0  done; there may be warnings
  1  failure on this machine (reading, writing)
  2  wrong input or wrong call; nothing was written";

const GENERATE_EXAMPLES: &str = "\
Examples:
  nmgen generate worker-0.yml
      Show the keyfiles of one document.
  nmgen generate -o /etc/NetworkManager/system-connections worker-0.yml
      Write them to NetworkManager's directory.
  nmgen generate -o out hosts/
      Write out/<hostname>/<id>.nmconnection for every host.
  nmgen generate --to gc - < worker-0.yml
      The YAML that `nmstatectl gc` prints.";

const BOOT_HELP: &str = "\
This machine's document is the first of these:
  nmgen.host=NAME   on the kernel command line: NAME.yml
  MAC address       a mac-address in a document, or aa-bb-cc-dd-ee-ff.yml
  MAC prefix        52-54-00.yml, for machines with random addresses
  DMI               SERIAL.yml or UUID.yml
  host name         NAME.yml, unless the name is a placeholder
  cluster.yml       for all other machines

Two documents that match equally well are an error. Without a match
nothing is written.

The hosts directory is /etc/nmgen, else /run/nmgen, else nmgen.dir=DIR on
the kernel command line. nmgen waits for the network cards of the document:
nmgen.timeout=SECONDS, 60 by default.

A card's name in the document means the card with its MAC address; this
machine's name of the card replaces it in all fields.

Messages go to the kernel log too. After an error the units let the boot go
on with the initramfs's own network. boot.md in the documentation describes
the dracut module and the files that persist.";

fn examples() -> String {
    GENERATE_EXAMPLES.to_owned() + EXAMPLES
}

/// Turns NMState documents into safe NetworkManager connection profiles.
///
/// Checks every document first, and reports faults with line and column.
/// nmstate decides the meaning of a document; fields that a profile cannot
/// hold are reported, never dropped silently.
#[derive(Debug, Parser)]
#[command(name = "nmgen", version, max_term_width = 80, after_help = EXIT_CODES)]
#[command(verbatim_doc_comment)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write connection profiles
    #[command(after_help = examples())]
    Generate(Box<GenerateArguments>),
    /// Print profiles as `nmstatectl gc` does
    Gc(GcArguments),
    /// Report faults of documents
    Check(CheckArguments),
    /// Show the stack of interfaces as a tree
    Show(ShowArguments),
    /// In an initramfs: choose this machine's document, write its profiles
    #[command(after_help = BOOT_HELP)]
    Boot(BootArguments),
    #[command(flatten)]
    Further(Further),
}

#[derive(Debug, Args)]
pub(super) struct GenerateArguments {
    /// The form of the output
    #[arg(long, value_enum, value_name = "TARGET", default_value_t = To::Keyfiles)]
    pub(super) to: To,
    /// File, or directory for several files [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    /// Treat warnings as errors
    #[arg(long)]
    pub(super) deny_warnings: bool,
    #[command(flatten)]
    pub(super) options: FormArguments,
    #[arg(help = SOURCE, value_name = "SOURCE", required = true)]
    pub(super) sources: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct GcArguments {
    /// An NMState document (YAML or JSON), '-' for standard input
    #[arg(value_name = "FILE")]
    pub(super) source: String,
    /// No warnings.
    #[arg(skip)]
    pub(super) quiet: bool,
}

#[derive(Debug, Args)]
pub(super) struct CheckArguments {
    /// The form of the findings
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Format::Text)]
    pub(super) format: Format,
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) findings: FindingArguments,
    /// Exit with 2 for warnings too
    #[arg(long)]
    pub(super) deny_warnings: bool,
    #[arg(help = SOURCE, value_name = "SOURCE", required = true)]
    pub(super) sources: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ShowArguments {
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) drawing: DrawingArguments,
    #[arg(help = SOURCE, value_name = "SOURCE", required = true)]
    pub(super) sources: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct BootArguments {
    /// Before the pivot: bring the profiles to /sysroot
    #[arg(long)]
    pub(super) persist: bool,
    /// After NetworkManager: give way to the system's profiles
    #[arg(long, conflicts_with = "persist")]
    pub(super) release: bool,
    #[command(flatten)]
    pub(super) live: LiveArguments,
    /// Read and write everything below this directory
    #[arg(long, value_name = "DIR", default_value = "/")]
    pub(super) root: PathBuf,
}

/// The library's version, which scripts that call nmstatectl compare, and this program's.
const NMSTATECTL_VERSION: &str = concat!("2.2.62 (nmgen ", env!("CARGO_PKG_VERSION"), ")");

/// Drop-in for image pipelines: only `gc` is there.
#[derive(Debug, Parser)]
#[command(name = "nmstatectl", version = NMSTATECTL_VERSION, max_term_width = 80)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct NmstatectlArguments {
    /// No warnings, as nmstatectl's own option disables its log
    #[arg(short, global = true)]
    pub(super) quiet: bool,
    /// Accepted as by nmstatectl; there is no log
    #[arg(short, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    #[command(subcommand)]
    pub(super) command: NmstatectlCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum NmstatectlCommand {
    /// Print the connection profiles of a document
    Gc(GcArguments),
    /// Print the version
    Version,
}

impl NmstatectlArguments {
    /// The command; the version is an error to clap, which prints it.
    pub(super) fn command(self) -> Result<Command, clap::Error> {
        match self.command {
            NmstatectlCommand::Gc(gc) => Ok(Command::Gc(GcArguments { quiet: self.quiet, ..gc })),
            NmstatectlCommand::Version => {
                Self::try_parse_from(["nmstatectl", "--version"])?.command()
            }
        }
    }
}

/// The command line's definition, from which man pages and completions are made.
pub fn command() -> clap::Command {
    Arguments::command()
}

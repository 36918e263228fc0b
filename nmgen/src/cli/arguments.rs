//! The arguments and their help texts.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{Args, CommandFactory, Parser, Subcommand};
use nmgen_fleet::output::Form;

use super::boot_command::BootArguments;
use super::check_command::CheckArguments;
use super::completion::{self, CompletionArguments};
use super::diff::{self, DiffArguments};
use super::explain::ExplainArguments;
use super::form::FormArguments;
use super::gate::GateArguments;
use super::general::GeneralArguments;
use super::report_command::{self, ReportArguments};
use super::selection::SelectionArguments;
use super::show_command::ShowArguments;
use super::source_help::SOURCE;
use super::validate_command::ValidateArguments;

/// The answer to a call without arguments.
pub(super) const FIRST_STEPS: &str = "\
nmgen checks and shows NMState documents, and makes NetworkManager profiles.
Three things to try:

  nmgen check install-config.yaml            what is wrong, and where
  nmgen show install-config.yaml             each host's stack of interfaces
  nmgen generate -o out install-config.yaml  the profiles: out/<hostname>/

nmgen --help lists all commands, and what can be in install-config.yaml's place.
";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; there may be warnings
  1  failure on this machine (reading, writing)
  2  wrong input or wrong call; nothing was written
  3  of report: a node is not as its document wants";

const GENERATE_EXAMPLES: &str = "\
Examples:
  nmgen generate worker-0.yml
      Show the keyfiles of one document.
  nmgen generate -o /etc/NetworkManager/system-connections worker-0.yml
      Write them to NetworkManager's directory.
  nmgen generate -o out hosts/
      Write out/<hostname>/<id>.nmconnection for every host.
  nmgen generate --to gc - < worker-0.yml
      The YAML that `nmstatectl gc` prints.
  nmgen generate --br-ex --to machine-config -o openshift/ install-config.yaml
      From the installation's early documents to MachineConfigs with br-ex:
      openshift/10-br-ex-master.yaml, openshift/10-br-ex-worker.yaml. With
      --policies day-two.yaml also what kubernetes-nmstate gets later.
  nmgen generate --to machine-config --role worker -o br-ex.yaml hosts/
      One MachineConfig with the documents of all workers.
  nmgen generate --to initrd hosts/ >> initramfs.img
      For `nmgen boot`: an archive appended to an initramfs; align it to
      four bytes first, with `truncate -s %4 initramfs.img`.";

/// Turns NMState documents into safe NetworkManager connection profiles.
///
/// Checks every document first, and reports faults with line and column.
/// nmstate decides the meaning of a document; fields that a profile cannot
/// hold are reported, never dropped silently.
#[derive(Debug, Parser)]
#[command(name = "nmgen", version = nmgen_core::VERSION, max_term_width = 80, after_help = EXIT_CODES)]
#[command(verbatim_doc_comment)]
#[command(subcommand_required = true, arg_required_else_help = true)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) general: GeneralArguments,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Write connection profiles
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(Box<GenerateArguments>),
    /// Print profiles as `nmstatectl gc` does
    Gc(GcArguments),
    /// Report faults of documents
    Check(CheckArguments),
    /// Show the stack of interfaces as a tree
    Show(ShowArguments),
    /// In an initramfs: choose this machine's document, write its profiles
    #[command(after_help = nmgen_boot::HELP)]
    Boot(BootArguments),
    /// Show the changes of each host between two sets of sources
    #[command(after_help = diff::EXAMPLES)]
    Diff(DiffArguments),
    /// Tell of many nodes' accounts who is not as the documents want
    #[command(after_help = report_command::EXAMPLES)]
    Report(ReportArguments),
    /// Explain a rule of `check`, with examples
    Explain(ExplainArguments),
    /// Print the script with which a shell completes nmgen's arguments
    #[command(after_help = completion::EXAMPLES)]
    Completion(CompletionArguments),
    /// nmstatectl's, under that name alone.
    #[command(skip)]
    Validate(ValidateArguments),
}

#[derive(Debug, Args)]
pub(super) struct GenerateArguments {
    /// The form of the output
    #[arg(long, value_enum, value_name = "TARGET", default_value_t = Form::Keyfiles)]
    pub(super) to: Form,
    /// File, or directory for several files [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) selection: SelectionArguments,
    #[command(flatten)]
    pub(super) gate: GateArguments,
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
}

/// The library's version, which scripts that call nmstatectl compare, and this program's.
const NMSTATECTL_VERSION: &str = concat!("2.2.62 (nmgen ", env!("CARGO_PKG_VERSION"), ")");

/// Drop-in for image pipelines: what needs no node is there.
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
    /// Validate a state or policy, and print it without secrets
    Validate(ValidateArguments),
    /// Print the version
    Version,
    #[command(external_subcommand)]
    Other(Vec<OsString>),
}

impl NmstatectlArguments {
    /// The command; the version is an error to clap, which prints it.
    pub(super) fn command(self) -> Result<(Command, GeneralArguments), clap::Error> {
        let general = GeneralArguments { quiet: self.quiet, ..GeneralArguments::default() };
        match self.command {
            NmstatectlCommand::Gc(gc) => Ok((Command::Gc(gc), general)),
            NmstatectlCommand::Validate(validate) => Ok((Command::Validate(validate), general)),
            NmstatectlCommand::Version => {
                Self::try_parse_from(["nmstatectl", "--version"])?.command()
            }
            NmstatectlCommand::Other(words) => {
                let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
                let message = format!(
                    "this is nmgen in the place of nmstatectl: it has `gc`, `validate` and `version`, and no `{name}`; install \
                     nmstate for all others"
                );
                Err(<Self as CommandFactory>::command()
                    .error(ErrorKind::InvalidSubcommand, message))
            }
        }
    }
}

/// The command line's definition, from which man pages and completions are made.
pub fn command() -> clap::Command {
    Arguments::command()
}

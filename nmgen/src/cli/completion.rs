//! `nmgen completion`: the script with which a shell completes the command line.

use clap::Args;
use clap_complete::Shell;
use nmgen_document::error::Error;

use super::arguments::command;
use super::done::Done;
use super::streams::Streams;

pub(super) const EXAMPLES: &str = "\
Examples:
  nmgen completion bash > ~/.local/share/bash-completion/completions/nmgen
  nmgen completion zsh > ~/.zfunc/_nmgen
  nmgen completion fish > ~/.config/fish/completions/nmgen.fish

Packages bring these files; this is for a program that came alone.";

#[derive(Debug, Args)]
pub(super) struct CompletionArguments {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(super) fn run(
    arguments: &CompletionArguments,
    streams: &mut Streams<'_>,
) -> Result<Done, Error> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command(), "nmgen", &mut script);
    streams.bytes(&script)?;
    Ok(Done::Success)
}

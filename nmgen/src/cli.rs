//! The command line. Contracts: exit codes 0 done, 1 failed on this machine, 2 the input or the call is
//! wrong; output to standard output, diagnostics to standard error.

mod arguments;
mod boot;
mod check;
mod diff;
mod generate;
mod output;
mod show;
#[cfg(feature = "pipelines")]
mod target_options;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

pub use self::arguments::command;
use self::arguments::{Arguments, Command, NmstatectlArguments};
use crate::error::Error;

/// What the program did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Done {
    Success,
    /// The diagnostics say why.
    InputWrong,
    /// It was said where it belongs.
    Failed,
}

/// Runs the program with its arguments, the program's name first.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let command = match parse(&arguments) {
        Ok(command) => command,
        Err(error) => return usage(&error),
    };
    let done = match command {
        Command::Generate(arguments) => generate::run(&arguments),
        Command::Gc(arguments) => generate::gc(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Boot(arguments) => Ok(boot::run(&arguments)),
        Command::Diff(arguments) => diff::run(&arguments),
    };
    match done {
        Ok(Done::Success) => ExitCode::SUCCESS,
        Ok(Done::InputWrong) => ExitCode::from(2),
        Ok(Done::Failed) => ExitCode::from(1),
        Err(error) => {
            output::error(&error);
            ExitCode::from(1)
        }
    }
}

/// Under the name `nmstatectl` only `gc` is understood, as image pipelines call it.
fn parse(arguments: &[OsString]) -> Result<Command, clap::Error> {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    if name.is_some_and(|name| name == "nmstatectl") {
        let NmstatectlArguments { command } = NmstatectlArguments::try_parse_from(arguments)?;
        return Ok(command.into());
    }
    let command = Arguments::try_parse_from(arguments)?.command;
    #[cfg(feature = "pipelines")]
    if let Command::Generate(arguments) = &command {
        arguments.options.verify(arguments.to)?;
    }
    if let Command::Diff(arguments) = &command
        && arguments.old == "-"
        && arguments.new == "-"
    {
        let message = "standard input cannot be both OLD and NEW";
        return Err(self::command().error(ErrorKind::ArgumentConflict, message));
    }
    Ok(command)
}

fn usage(error: &clap::Error) -> ExitCode {
    // clap chooses the stream: help and version are output, the rest is an error.
    let printed = error.print();
    match (error.use_stderr(), printed) {
        (false, Ok(())) => ExitCode::SUCCESS,
        (false, Err(source)) => {
            output::error(&Error::WriteOutput { source });
            ExitCode::from(1)
        }
        (true, _) => ExitCode::from(2),
    }
}

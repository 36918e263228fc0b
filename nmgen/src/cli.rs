//! The command line. Exit codes: 0 done, 1 failure of this machine, 2 wrong input or call. Output
//! goes to standard output, diagnostics to standard error.

mod arguments;
mod boot_command;
mod check_command;
mod diff;
mod done;
mod explain;
mod form;
mod generate_command;
mod github;
mod sarif;
mod selection;
mod show_command;
mod streams;
mod target;

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

pub use self::arguments::command;
use nmgen_document::format::printable_lines;

use self::arguments::{Arguments, Command, NmstatectlArguments};
use self::done::Done;
pub use self::streams::Streams;

/// Runs the program; the first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (mut output, mut messages) = (io::stdout(), io::stderr());
    run(arguments, &mut Streams::standard(&mut output, &mut messages))
}

/// Like [`main`], with other streams, but for `boot`: its messages go to the kernel log and to standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if arguments.len() < 2 && !is_nmstatectl(&arguments) {
        streams.message(arguments::FIRST_STEPS);
        return ExitCode::from(2);
    }
    let command = match parse(&arguments) {
        Ok(command) => command,
        Err(error) => return usage(&error, streams),
    };
    let done = match command {
        Command::Generate(arguments) => generate_command::run(&arguments, streams),
        Command::Gc(arguments) => generate_command::gc(&arguments, streams),
        Command::Check(arguments) => check_command::run(&arguments, streams),
        Command::Show(arguments) => show_command::run(&arguments, streams),
        Command::Boot(arguments) => Ok(boot_command::run(&arguments)),
        Command::Diff(arguments) => diff::run(&arguments, streams),
        Command::Explain(arguments) => explain::run(&arguments, streams),
    };
    match done {
        Ok(Done::Success) => ExitCode::SUCCESS,
        Ok(Done::InputWrong) => ExitCode::from(2),
        Ok(Done::Failed) => ExitCode::from(1),
        Err(error) => {
            streams.error(&error);
            ExitCode::from(1)
        }
    }
}

fn is_nmstatectl(arguments: &[OsString]) -> bool {
    let name = arguments.first().map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name == "nmstatectl")
}

/// Under the name `nmstatectl`, only `gc` and `version` exist, as image pipelines call it.
fn parse(arguments: &[OsString]) -> Result<Command, clap::Error> {
    if is_nmstatectl(arguments) {
        return NmstatectlArguments::try_parse_from(arguments)?.command();
    }
    let command = Arguments::try_parse_from(arguments)?.command;
    let verified = match &command {
        Command::Generate(arguments) => {
            arguments.options.verify(arguments.to, arguments.output.as_deref())
        }
        Command::Diff(arguments) => arguments.verify(),
        Command::Gc(_)
        | Command::Check(_)
        | Command::Show(_)
        | Command::Boot(_)
        | Command::Explain(_) => Ok(()),
    };
    match verified {
        Ok(()) => Ok(command),
        Err(message) => Err(self::command().error(ErrorKind::ArgumentConflict, message)),
    }
}

fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> ExitCode {
    let text = error.render().to_string();
    // clap chooses the stream: help and version go to standard output, errors to standard error.
    if error.use_stderr() {
        streams.message(&printable_lines(&text));
        return ExitCode::from(2);
    }
    match streams.text(&text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            streams.error(&error);
            ExitCode::from(1)
        }
    }
}

//! The command line. Exit codes: 0 done, 1 failure of this machine, 2 wrong input or call, 3 a node is not as wanted. Output
//! goes to standard output, diagnostics to standard error.

mod arguments;
mod boot_command;
mod check_command;
mod completion;
mod diff;
mod done;
mod explain;
mod form;
mod gate;
mod general;
mod generate_command;
mod github;
mod json;
mod report_command;
mod sarif;
mod selection;
mod short;
mod show_command;
mod source_help;
mod streams;
mod target;
mod validate_command;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

pub use self::arguments::command;
use self::arguments::{Arguments, Command, NmstatectlArguments};
use self::done::Done;
use self::general::GeneralArguments;
pub use self::streams::Streams;

/// Runs the program; the first argument is the program's name.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let (mut output, mut messages) = (io::stdout(), io::stderr());
    run(arguments, &mut Streams::standard(&mut output, &mut messages))
}

/// Like [`main`], with other streams, but for `boot`: its messages go to the kernel log and to standard error.
pub fn run(arguments: impl IntoIterator<Item = OsString>, streams: &mut Streams<'_>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let name = Name::of(&arguments);
    if arguments.len() < 2 && name == Name::Nmgen {
        streams.message(arguments::FIRST_STEPS);
        return ExitCode::from(2);
    }
    let (command, general) = match parse(name, &arguments) {
        Ok(parsed) => parsed,
        Err(error) => return usage(&error, streams),
    };
    streams.set(general);
    streams.is_nmstatectl = name == Name::Nmstatectl;
    let done = match command {
        Command::Generate(arguments) => generate_command::run(&arguments, streams),
        Command::Gc(arguments) => generate_command::gc(&arguments, streams),
        Command::Check(arguments) => check_command::run(&arguments, streams),
        Command::Show(arguments) => show_command::run(&arguments, streams),
        Command::Boot(arguments) => Ok(boot_command::run(&arguments)),
        Command::Diff(arguments) => diff::run(&arguments, streams),
        Command::Report(arguments) => report_command::run(&arguments, streams),
        Command::Explain(arguments) => explain::run(&arguments, streams),
        Command::Completion(arguments) => completion::run(&arguments, streams),
        Command::Validate(arguments) => validate_command::run(&arguments, streams),
    };
    match done {
        Ok(Done::Success) => ExitCode::SUCCESS,
        Ok(Done::InputWrong) => ExitCode::from(2),
        Ok(Done::Failed) => ExitCode::from(1),
        Ok(Done::NotAsWanted) => ExitCode::from(3),
        Err(error) => {
            streams.error(&error);
            ExitCode::from(1)
        }
    }
}

/// The program that a caller takes this one for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Nmgen,
    Nmstatectl,
}

impl Name {
    fn of(arguments: &[OsString]) -> Self {
        let name = arguments.first().map(Path::new).and_then(Path::file_name);
        match name.and_then(OsStr::to_str) {
            Some("nmstatectl") => Self::Nmstatectl,
            _ => Self::Nmgen,
        }
    }
}

/// Under the name of another program, only what pipelines call of it exists.
fn parse(name: Name, arguments: &[OsString]) -> Result<(Command, GeneralArguments), clap::Error> {
    let Arguments { general, command } = match name {
        Name::Nmstatectl => return NmstatectlArguments::try_parse_from(arguments)?.command(),
        Name::Nmgen => Arguments::try_parse_from(arguments)?,
    };
    let verified = match &command {
        Command::Generate(arguments) => {
            arguments.options.verify(arguments.to, arguments.output.as_deref())
        }
        Command::Diff(arguments) => arguments.verify(),
        Command::Boot(_) if !general.is_empty() => {
            Err("boot tells what it does in the kernel log, each line with its level".to_owned())
        }
        Command::Gc(_)
        | Command::Check(_)
        | Command::Show(_)
        | Command::Boot(_)
        | Command::Explain(_)
        | Command::Report(_)
        | Command::Completion(_)
        | Command::Validate(_) => Ok(()),
    };
    match verified {
        Ok(()) => Ok((command, general)),
        Err(message) => Err(self::command().error(ErrorKind::ArgumentConflict, message)),
    }
}

fn usage(error: &clap::Error, streams: &mut Streams<'_>) -> ExitCode {
    let text = error.render().to_string();
    // clap chooses the stream: help and version go to standard output, errors to standard error.
    if error.use_stderr() {
        streams.message(&text);
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

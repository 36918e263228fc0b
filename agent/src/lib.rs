//! Applies an OpenShift node's network as one transaction, early in boot.

#![cfg_attr(not(test), warn(unused_crate_dependencies))]

// One document: rules, choice and reading. The agent needs no other part of nmgen.
extern crate nmgen_core as nmgen;

mod bridge;
mod bundle;
mod cli;
mod client;
mod command;
mod document;
mod durable;
mod error;
mod export;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod library_log;
mod lock;
mod model;
mod network;
mod paths;
mod probe;
mod run;
mod settings;
mod state;
mod status;
mod transaction;
mod warn;
mod watchdog;

use std::{io::Write as _, path::Path, process::ExitCode, time::Duration};

use clap::{CommandFactory as _, Parser as _, error::ErrorKind};

use crate::{
    cli::{Cli, Command, StatusForm},
    error::{Error, Exit},
    paths::Paths,
    status::log::Log,
};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return ExitCode::from(usage(&error) as u8),
    };
    if let Some(fault) = cli.command.fault() {
        let error = Cli::command().error(ErrorKind::MissingRequiredArgument, fault);
        let _ = error.print();
        return ExitCode::from(Exit::Input as u8);
    }
    status::log::start(match (cli.command.is_for_the_journal(), cli.command.has_verdict()) {
        (true, _) => Log::OfChanges,
        (false, true) => Log::AfterVerdict,
        (false, false) => Log::Plain,
    });
    let result = carry_out(&cli);
    status::log::finish();
    match result {
        Ok(()) => ExitCode::from(Exit::Done as u8),
        Err(error) => {
            // Commands that change the network report to the journal and the console themselves; a
            // service that only checks writes nothing to the console.
            let is_told = match (&cli.command, &error) {
                (_, Error::NeedsRoot) => false,
                (Command::Apply { dry_run, trial, .. }, _) => !dry_run && trial.is_none(),
                (Command::Bridge { .. } | Command::Rollback | Command::Trial, _) => true,
                (Command::Check { .. }, _) => status::log::is_service(),
                // The first lines of the page have the verdict and the reason, and the metrics the verdict.
                (Command::Status { json, format, .. }, Error::NotInForce { .. }) => {
                    !json && *format != StatusForm::Json
                }
                // The first line of the output has it.
                (Command::Health { .. }, Error::NotInForce { .. })
                | (Command::Diff { .. }, Error::Differs)
                | (Command::Probe { .. }, Error::Wire { .. }) => true,
                _ => false,
            };
            if !is_told {
                let text = nmgen::chain(&error);
                if status::log::is_service() {
                    tracing::error!("{text}");
                }
                status::log::console(status::log::Tone::Bad, &[format!("FAILED: {text}")]);
            }
            // As diff(1) has it.
            let exit = match (&cli.command, &error) {
                (_, Error::Differs) => error.exit(),
                (Command::Diff { exit_code: true, .. }, _) => Exit::Input,
                _ => error.exit(),
            };
            ExitCode::from(exit as u8)
        }
    }
}

/// Prints what clap has to say: help and version to standard output, of which a reader may take a part; a wrong call to standard
/// error.
fn usage(error: &clap::Error) -> Exit {
    let text = nmgen::printable_lines(&error.render().to_string());
    if error.use_stderr() {
        // Without it nobody can be told.
        let _ = std::io::stderr().write_all(text.as_bytes());
        return Exit::Input;
    }
    let mut output = std::io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(source) if source.kind() != std::io::ErrorKind::BrokenPipe => {
            let text = nmgen::chain(&Error::Output(source));
            status::log::console(status::log::Tone::Bad, &[format!("FAILED: {text}")]);
            Exit::Machine
        }
        Ok(()) | Err(_) => Exit::Done,
    }
}

/// `dayone recover --root ROOT` without the start of a process and without a log, for a test of thousands of disks. An error
/// is the exit code and its reason.
///
/// # Errors
/// Like `dayone recover`.
#[doc(hidden)]
pub fn recover(root: &Path) -> Result<(), (u8, String)> {
    let cli = Cli { root: root.to_owned(), command: Command::Recover };
    carry_out(&cli).map_err(|error| (error.exit() as u8, nmgen::chain(&error)))
}

fn carry_out(cli: &Cli) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Error::Runtime)?;
    let result = runtime.block_on(watchdog::guarded(dispatch(cli)));
    // A pending name lookup must not delay the exit.
    runtime.shutdown_background();
    result
}

async fn dispatch(cli: &Cli) -> Result<(), Error> {
    let Some(file) = cli.command.from() else {
        return carried_out(cli, &Paths::new(&cli.root)).await;
    };
    let node = bundle::unpack(bundle::read(file)?, file)?;
    carried_out(cli, &node.paths).await.map_err(|error| {
        // The output has told them.
        if matches!(error, Error::NotInForce { .. } | Error::Differs) {
            return error;
        }
        let text = node.paths.on_node(&nmgen::chain(&error));
        Error::OfCollected { text, exit: error.exit() }
    })
}

async fn carried_out(cli: &Cli, paths: &Paths) -> Result<(), Error> {
    if paths.is_system() && cli.command.needs_root() && !nix::unistd::geteuid().is_root() {
        return Err(Error::NeedsRoot);
    }
    match &cli.command {
        Command::Apply { dry_run: true, document, .. } => {
            command::dry_run(paths, document.as_deref()).await
        }
        Command::Apply { trial: Some(seconds), file: Some(file), .. } => {
            command::ask(paths, *seconds, file).await
        }
        Command::Apply { retry, keep_trying, .. } => {
            command::apply(paths, *retry, *keep_trying).await
        }
        Command::Bridge { keep_trying } => command::bridge(paths, *keep_trying).await,
        Command::Confirm => command::confirm(paths).await,
        Command::Trial => run::trial::trial(paths).await,
        Command::Wait => command::wait(paths).await,
        Command::Recover => command::recover(paths).await,
        Command::MtuMigration => command::mtu_migration(paths).await,
        Command::Status { json: true, .. } => command::status(paths, StatusForm::Json).await,
        Command::Status { format, .. } => command::status(paths, *format).await,
        Command::Health { format, only } => command::health(paths, *format, only.as_deref()).await,
        Command::Check { format, document, .. } => {
            command::check(paths, document.as_deref(), *format).await
        }
        Command::Collect { output, timeout } => {
            command::collect(paths, output.as_deref(), Duration::from_secs(*timeout)).await
        }
        Command::Probe { format } => command::probe(paths, *format).await,
        Command::Plan { json, .. } => command::plan(paths, *json).await,
        Command::Diff { document, format, exit_code, .. } => {
            command::diff(paths, document.as_deref(), *format, *exit_code).await
        }
        Command::Export { last_good: true, .. } => command::export_last_good(paths),
        Command::Export { policy, .. } => command::export(paths, *policy).await,
        Command::Adopt { reason, forget, force, format } => {
            let extent = match (forget, force) {
                (true, _) => command::Adoption::Forget,
                (false, true) => command::Adoption::Forced,
                (false, false) => command::Adoption::OfAWorkingNetwork,
            };
            command::adopt(paths, reason.as_deref(), extent, *format).await
        }
        Command::Rollback => command::rollback(paths).await,
    }
}

//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Applies a node's network as one transaction, early in boot: check, checkpoint, apply, verify,
/// probe, commit; or everything back.
///
/// Exit codes: 0 done, or nothing to do; 1 it failed on this machine; 2 the document or the call
/// is wrong; 3 applied, did not hold, rolled back; 4 the roll back failed.
#[derive(Debug, Parser)]
#[command(name = "dayone", version, max_term_width = 80)]
pub(crate) struct Cli {
    /// Take all paths relative to this directory
    #[arg(long, global = true, default_value = "/", value_name = "DIR")]
    pub(crate) root: PathBuf,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Choose this node's document and put it in force
    ///
    /// Does nothing where the document is in force already. What a killed run left open is undone
    /// first.
    Apply {
        /// Choose and check only; say what would change
        #[arg(long)]
        dry_run: bool,
        /// Try again although the document failed too often
        #[arg(long)]
        retry: bool,
    },
    /// Undo a transaction that a crash or a power cut left open
    ///
    /// Runs before NetworkManager and needs neither it nor a network.
    Recover,
    /// Say what was chosen and why, how it went, and whether it still holds
    ///
    /// Exits with 0 only when this node's document is in force.
    Status {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print what the current state lacks of this node's document
    Diff,
    /// Put the last good configuration back in force
    Rollback,
}

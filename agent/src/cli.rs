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
    /// Where the document is in force already, waits for its network and repairs it; where another
    /// tool has put it in force, records it. What a killed run left open is undone first. Where the
    /// document fails, the last good configuration is put back unless it carries the node already:
    /// its gateway answers. One run changes the network at a time; another waits.
    Apply {
        /// Choose and check only; say what would change
        #[arg(long)]
        dry_run: bool,
        /// Try again although the document failed too often
        #[arg(long)]
        retry: bool,
        /// Go on trying, with growing pauses, until the boot may go on
        ///
        /// Pauses grow from 5 s to 5 min. A change below /etc/nmstate or of dayone.toml ends one, and
        /// so does SIGHUP, which forgets earlier failures too. A document that was refused or given up
        /// is not tried again before that. What dayone.service runs.
        #[arg(long, conflicts_with = "dry_run")]
        keep_trying: bool,
    },
    /// Undo a transaction that a crash or a power cut left open
    ///
    /// Runs before NetworkManager and needs neither it nor a network.
    Recover,
    /// Return when the boot may go on
    ///
    /// That is when the node's document is in force or no document is for it, when the last good
    /// configuration carries the node, or when the settings say `on-failure = "continue"`. What
    /// dayone-wait.service runs, which kubelet requires.
    Wait,
    /// Say what was chosen and why, how it went, and whether it still holds
    ///
    /// Exits with 0 only when this node's document is in force; with 3 when it is not, though the
    /// last good configuration may carry the node.
    Status {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Check this node's document as a boot would, and apply nothing
    ///
    /// Says whether it is in force or pending. Exits with 2 when a boot would refuse it.
    Check,
    /// Print what the current state lacks of this node's document
    Diff,
    /// Put the last good configuration back in force
    Rollback,
}

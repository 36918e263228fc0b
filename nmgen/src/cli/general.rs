//! The options of every command.

use clap::{Args, ValueEnum};

const GENERAL: &str = "Options of every command";

/// The options of every command.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct GeneralArguments {
    /// Errors alone: no warnings, no notes
    #[arg(short, long, global = true, help_heading = GENERAL)]
    pub(crate) quiet: bool,
    /// Also tell what was read: each host with its role and file
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = GENERAL)]
    pub(crate) verbose: bool,
    /// Colours [default: auto, on a terminal and without NO_COLOR]
    #[arg(long, global = true, value_enum, value_name = "WHEN", help_heading = GENERAL)]
    pub(crate) color: Option<Color>,
}

/// The use of colours by its name on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// In a pipe too, for a pager
    Always,
    /// Nowhere
    Never,
}

impl GeneralArguments {
    /// True if none is given.
    pub(super) fn is_empty(self) -> bool {
        !self.quiet && !self.verbose && self.color.is_none()
    }
}

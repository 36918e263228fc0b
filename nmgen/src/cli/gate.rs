//! What a gate, such as a job of a pipeline, takes for wrong.

use clap::Args;
use nmgen_fleet::source::Hosts;

/// The options of commands that a gate calls.
#[derive(Debug, Args)]
pub(super) struct GateArguments {
    /// Treat warnings as errors: exit with 2
    #[arg(long)]
    pub(super) deny_warnings: bool,
    /// Also tell the warnings that comments of the sources allow: for changes of strangers
    #[arg(long)]
    ignore_allow_comments: bool,
}

impl GateArguments {
    /// Drops the comments that nobody asked for.
    pub(super) fn judge(&self, hosts: &mut Hosts) {
        if self.ignore_allow_comments {
            hosts.allowances.clear();
        }
    }
}

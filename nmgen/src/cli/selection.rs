//! The arguments that choose hosts.

use clap::Args;
use nmgen_fleet::output::Selection;

/// The choice of hosts.
#[derive(Debug, Args)]
pub(super) struct SelectionArguments {
    /// Only this host or pattern ('worker-*'); repeatable
    #[arg(long, value_name = "NAME")]
    host: Vec<String>,
    /// Only hosts of this role; repeatable
    #[arg(long, value_name = "ROLE")]
    only_role: Vec<String>,
}

impl SelectionArguments {
    pub(super) fn of<'a>(&'a self, sources: &'a [String]) -> Selection<'a> {
        Selection { hosts: &self.host, roles: &self.only_role, sources }
    }
}

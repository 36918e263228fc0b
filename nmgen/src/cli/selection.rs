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
    /// Only hosts of this cluster or pattern, by its name or, without one,
    /// its directory; repeatable
    #[arg(long, value_name = "NAME")]
    cluster: Vec<String>,
}

impl SelectionArguments {
    pub(super) fn of<'a>(&'a self, sources: &'a [String]) -> Selection<'a> {
        let (hosts, roles) = (&self.host, &self.only_role);
        Selection { hosts, roles, clusters: &self.cluster, sources }
    }
}

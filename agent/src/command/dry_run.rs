//! `dayone apply --dry-run`: prints the changes of an attempt.

use std::path::Path;

use super::{
    diff::{changes, differences, resolved},
    difference::{Differences, compare},
    output::print_of,
    services,
};
use crate::{
    document::{self, check, machine_config, service_files},
    durable::record::Record,
    error::Result,
    network::sight::Sight,
    paths::Paths,
    run::in_force::Adopted,
    settings::Usable,
};

/// Chooses and checks, and prints the differences: first of the files of `/etc/nmstate` that are due, each against the current
/// state, then of the document.
/// `file` takes the place of the node's document.
pub(crate) async fn dry_run(paths: &Paths, file: Option<&Path>) -> Result {
    let settings = Usable::load(paths).told();
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let chosen = match file {
        Some(file) => document::given(paths, file)?,
        None => {
            let bound = settings.wait.hostname.get();
            document::choose(paths, in_force.as_ref(), bound, || {}).await?
        }
    };
    for warning in &chosen.warnings {
        tracing::warn!("{warning}");
    }
    let Some(document) = chosen.document else {
        return print_of(paths, &format!("{}\n", chosen.reason));
    };
    print_of(paths, &format!("# {}: {}\n", document.path.display(), chosen.reason))?;
    let files = service_files::read(paths, &chosen.hostname)?;
    let in_force = record.in_force(paths, &document.digest)?;
    if in_force && record.has_service_files(&files.digests()) {
        return print_of(paths, "# in force already\n");
    }
    let parsed = check::check(&document)?;
    for warning in machine_config::edited_files(paths, &parsed) {
        tracing::warn!("{warning}");
    }
    services::required(paths, services::needs_ovs(&document)).await?;
    let network = Sight::connect(paths, &settings.wait).await?;
    if !in_force && Adopted::find(paths, &record, &document)?.is_some() {
        print_of(
            paths,
            "# in force by another tool: recorded, and applied only if the network is not usable\n",
        )?;
        let found = differences(paths, &record, &network, &document, &parsed).await?;
        return print_of(paths, &shown(&found));
    }
    for file in files.due(record.service_files_in_force(paths))?.due {
        print_of(paths, &format!("# {}, before the document\n", file.path.display()))?;
        let desired = resolved(&network, &file.parsed).await?;
        print_of(paths, &shown(&compare(&network, &desired).await?))?;
        print_of(paths, &format!("# {}\n", document.path.display()))?;
    }
    print_of(paths, &shown(&differences(paths, &record, &network, &document, &parsed).await?))
}

fn shown(found: &Differences) -> String {
    changes(found).unwrap_or_else(|| "# no difference\n".to_owned())
}

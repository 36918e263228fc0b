//! The chosen document: identity, waiting for a host name, reading.

use std::{
    io,
    time::{Duration, Instant},
};

use super::{
    identity::{self, HostName},
    read::{Document, DocumentError},
    select::{self, Choice, Entry, Identity, Selection},
};
use crate::paths::Paths;

/// The choice with its reason in words and what looked wrong.
#[derive(Debug)]
pub(crate) struct Chosen {
    pub(crate) document: Option<Document>,
    pub(crate) reason: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) hostname: String,
}

/// Chooses the node's document, waiting for a host name at most `bound` where that matters;
/// `waiting` is told once when it starts to wait.
pub(crate) async fn choose(
    paths: &Paths,
    bound: Duration,
    waiting: impl FnOnce(),
) -> Result<Chosen, DocumentError> {
    let entries = list(paths)?;
    let mut hostname = identity::current(paths)?;
    let mut selection = select_for(paths, &hostname, &entries).await;
    let mut waited = String::new();
    let undecided = !matches!(
        &selection.choice,
        Choice::File { reason, .. } if *reason != select::Reason::Cluster
    );
    if hostname.is_placeholder() && undecided && select::has_host_files(&entries) {
        waiting();
        let start = Instant::now();
        (hostname, waited) = match wait_for_name(paths, hostname.clone(), bound).await? {
            Some(name) => {
                (name, format!("; waited {:.1} s for a hostname", start.elapsed().as_secs_f64()))
            }
            None => {
                let after = start.elapsed().as_secs_f64();
                (hostname, format!("; no hostname came within {after:.1} s"))
            }
        };
        selection = select_for(paths, &hostname, &entries).await;
    }
    let (document, reason) = match selection.choice {
        Choice::File { name, reason } => {
            (Some(Document::read(paths.documents().join(name))?), reason.to_string())
        }
        Choice::None => (None, "no document is for this node".to_owned()),
    };
    Ok(Chosen {
        document,
        reason: reason + &waited,
        warnings: selection.warnings.iter().map(ToString::to_string).collect(),
        hostname: hostname.as_str().to_owned(),
    })
}

async fn wait_for_name(
    paths: &Paths,
    mut old: HostName,
    bound: Duration,
) -> Result<Option<HostName>, DocumentError> {
    let wait = async {
        loop {
            let name = identity::wait_for_change(paths, &old).await?;
            if !name.is_placeholder() {
                return Ok(name);
            }
            old = name;
        }
    };
    match tokio::time::timeout(bound, wait).await {
        Ok(name) => name.map(Some),
        Err(_) => Ok(None),
    }
}

/// Asks the hardware only where the host name does not decide: the second boot pays for nothing.
async fn select_for(paths: &Paths, hostname: &HostName, entries: &[Entry]) -> Selection {
    let mut identity = Identity {
        short: (!hostname.is_placeholder()).then(|| hostname.short().to_owned()),
        full: hostname.as_str().to_owned(),
        ..Identity::default()
    };
    let by_name = select::select(&identity, entries);
    let decided = matches!(
        &by_name.choice,
        Choice::File { reason, .. } if *reason != select::Reason::Cluster
    );
    if decided || !select::has_host_files(entries) {
        return by_name;
    }
    identity.macs = identity::physical_macs(paths).await;
    identity.dmi = identity::dmi_ids(paths);
    select::select(&identity, entries)
}

fn list(paths: &Paths) -> Result<Vec<Entry>, DocumentError> {
    let path = paths.documents();
    let listing = match std::fs::read_dir(&path) {
        Ok(listing) => listing,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(DocumentError::List { path, source }),
    };
    let mut entries = Vec::new();
    for entry in listing {
        let entry = entry.map_err(|source| DocumentError::List { path: path.clone(), source })?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !(name.ends_with(".yml") || name.ends_with(".yaml")) {
            continue;
        }
        // Through a link too: some deployments link one file under many names.
        match std::fs::metadata(entry.path()) {
            Ok(meta) if meta.is_file() => entries.push(Entry { name, empty: meta.len() == 0 }),
            Ok(_) => {}
            Err(source) => tracing::warn!(file = %name, error = %source, "skipped"),
        }
    }
    entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

//! The chosen document: identity, waiting for a host name, reading. `nmgen::node` makes the choice.
//!
//! A host file replaces `cluster.yml`; they are never merged.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use nmgen::node::{self, Candidate, HostName, Identity, Listing, RUNNING, Reason, Selection};

use super::{
    committed::{InForce, is_of},
    identity,
    read::{Document, DocumentError, bytes},
    unmatched::Unmatched,
};
use crate::paths::{Paths, entries};

/// The choice, its reason in words, and warnings.
#[derive(Debug, Default)]
pub(crate) struct Chosen {
    pub(crate) document: Option<Document>,
    pub(crate) reason: String,
    pub(crate) warnings: Vec<String>,
    pub(crate) hostname: String,
    /// Set if there are host files, and none of them is this node's.
    pub(crate) unmatched: Option<Unmatched>,
}

impl Chosen {
    pub(crate) fn none(paths: &Paths, reason: &str) -> Self {
        let hostname = identity::current(paths).map(|name| name.as_str().to_owned());
        let hostname = hostname.unwrap_or_default();
        Self { reason: reason.to_owned(), hostname, ..Self::default() }
    }
}

/// The document that the caller names.
pub(crate) fn given(paths: &Paths, file: &Path) -> Result<Chosen, DocumentError> {
    Ok(Chosen {
        document: Some(Document::given(file)?),
        reason: "given by --document".to_owned(),
        hostname: identity::current(paths)?.as_str().to_owned(),
        ..Chosen::default()
    })
}

/// Chooses the node's document, waiting for a host name for at most `bound` if host files exist and `in_force` is none of them;
/// calls `waiting` once when the wait starts.
pub(crate) async fn choose(
    paths: &Paths,
    in_force: Option<&InForce>,
    bound: Duration,
    waiting: impl FnOnce(),
) -> Result<Chosen, DocumentError> {
    let listing = list(paths)?;
    let mut hostname = identity::current(paths)?;
    let (mut selection, mut identity) = select_for(paths, &hostname, &listing).await?;
    let mut waited = String::new();
    let mut kept = kept(paths, in_force, &listing, (&selection, &identity), true).await?;
    if kept.is_none()
        && !bound.is_zero()
        && hostname.is_placeholder()
        // Nobody gives a tree that was prepared or collected a name.
        && paths.is_system()
        && !is_decided(&selection)
        && has_host_files(paths, &listing)
    {
        waiting();
        let start = Instant::now();
        (hostname, waited) = match wait_for_name(paths, hostname.clone(), bound).await? {
            Some(name) => {
                (name, format!("; waited {:.1} s for a hostname", start.elapsed().as_secs_f64()))
            }
            None => {
                let after = start.elapsed().as_secs_f64();
                (hostname, format!("; no hostname within {after:.1} s"))
            }
        };
        (selection, identity) = select_for(paths, &hostname, &listing).await?;
    }
    if kept.is_none() {
        kept = self::kept(paths, in_force, &listing, (&selection, &identity), false).await?;
    }
    let (document, reason) = match (&kept, &selection.choice) {
        (Some(name), _) => (
            Some(Document::read_as_on_node(paths, file(paths, name))?),
            "the host file in force, whatever this node's name is".to_owned(),
        ),
        (None, Some(choice)) => {
            let file = file(paths, &choice.name);
            (Some(Document::read_as_on_node(paths, file)?), reason_of(choice))
        }
        (None, None) => (None, "no document for this node".to_owned()),
    };
    let is_unmatched = document.is_none() && has_host_files(paths, &listing);
    let unmatched = is_unmatched.then(|| Unmatched::new(&identity, &listing));
    let mut warnings: Vec<String> = selection.warnings.iter().map(ToString::to_string).collect();
    warnings.extend(unmatched.as_ref().map(ToString::to_string));
    warnings.extend(kept.map(|name| stays(&name, &hostname)));
    let hostname = hostname.as_str().to_owned();
    Ok(Chosen { document, reason: reason + &waited, warnings, hostname, unmatched })
}

/// Returns the reason of a choice in words.
fn reason_of(choice: &Candidate) -> String {
    match &choice.reason {
        Reason::ShortHostName(name) => format!("host file for short hostname {}", name.short()),
        Reason::FullHostName(name) => format!("host file for hostname {}", name.as_str()),
        Reason::MacAddress { mac, .. } => {
            format!("host file for MAC address {}", mac.to_string().replace(':', "-"))
        }
        Reason::Dmi { value, .. } => format!("host file for DMI serial or UUID {value}"),
        Reason::Cluster => "cluster.yml, since no host file matches this node".to_owned(),
        // Only in the initramfs.
        Reason::KernelArgument => format!("the kernel command line names {}", choice.name),
        Reason::MacPrefix { prefix, .. } => format!("host file for MAC prefix {prefix}"),
    }
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

/// The selection, and the identity that it went by. Reads the hardware only if the host name does not
/// decide, which saves time on later boots.
async fn select_for(
    paths: &Paths,
    hostname: &HostName,
    listing: &Listing,
) -> Result<(Selection, Identity), DocumentError> {
    let is_empty = |name: &str| is_empty(paths, name);
    let mut identity = Identity { host_name: hostname.clone(), ..Identity::default() };
    let by_name = node::select(RUNNING, &identity, listing, is_empty);
    if is_decided(&by_name) || !has_host_files(paths, listing) {
        return Ok((by_name, identity));
    }
    identity.cards = identity::cards(paths).await?;
    identity.dmi = identity::dmi(paths);
    Ok((node::select(RUNNING, &identity, listing, is_empty), identity))
}

/// The host file in force, where today's identity does not look for it. Unchanged bytes go before every other file; changed ones,
/// unless only unchanged ones are wanted, before `cluster.yml` and before no document.
async fn kept(
    paths: &Paths,
    in_force: Option<&InForce>,
    listing: &Listing,
    (selection, identity): (&Selection, &Identity),
    unchanged_only: bool,
) -> Result<Option<String>, DocumentError> {
    let Some(in_force) = in_force else { return Ok(None) };
    let Some(name) = in_force.listed(paths, listing) else { return Ok(None) };
    let chosen = selection.choice.as_ref().map(|choice| &*choice.name);
    if chosen == Some(&name) || is_empty(paths, &name) {
        return Ok(None);
    }
    let mut identity = identity.clone();
    if is_decided(selection) {
        identity.cards = identity::cards(paths).await?;
        identity.dmi = identity::dmi(paths);
    }
    let is_kept = !is_of(&name, &identity)
        && (in_force.is_unchanged(&file(paths, &name))
            || (!unchanged_only && !is_decided(selection)));
    Ok(is_kept.then_some(name))
}

/// The warning about a host file that stays.
fn stays(name: &str, hostname: &HostName) -> String {
    let today = match hostname.is_placeholder() {
        true => "without a name".to_owned(),
        false => format!("named {}", hostname.as_str()),
    };
    format!(
        "this node is {today} in this boot; {name}.yml is in force and stays its document (give the node its name back; only where it \
         is renamed for good, write the file of the new name, remove /etc/nmstate/openshift/applied and call dayone apply)"
    )
}

/// Whether a host file was chosen.
fn is_decided(selection: &Selection) -> bool {
    selection.choice.as_ref().is_some_and(|choice| choice.reason != Reason::Cluster)
}

fn has_host_files(paths: &Paths, listing: &Listing) -> bool {
    node::has_host_files(listing, |name| is_empty(paths, name))
}

fn file(paths: &Paths, name: &str) -> PathBuf {
    paths.documents().join(format!("{name}.yml"))
}

/// Whether the file is empty; an unreadable one is reported when it is chosen.
fn is_empty(paths: &Paths, name: &str) -> bool {
    bytes(&file(paths, name)).is_ok_and(|bytes| node::is_empty(&bytes))
}

fn list(paths: &Paths) -> Result<Listing, DocumentError> {
    let mut listing = Listing::default();
    for path in entries("list", &paths.documents())? {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !(name.ends_with(".yml") || name.ends_with(".yaml")) {
            continue;
        }
        // Follow links: some deployments link one file under many names.
        match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => listing.add(&name),
            Ok(_) => {}
            Err(source) => tracing::warn!(file = %name, error = %source, "skipped"),
        }
    }
    listing.sort();
    Ok(listing)
}

#[cfg(test)]
mod tests;

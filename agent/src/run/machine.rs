//! The machine of the durable state, at the start of a run and after its success.

use std::time::Duration;

use nmgen::chain;
use tokio::time::Instant;

use super::Run;
use crate::{
    client::netlink::Netlink,
    document,
    durable::{
        journal,
        machine::{self, Machine, Owner},
        owner,
        record::Record,
    },
    model::{LinkRef, Mac, Uplinks},
    network::NetworkError,
    paths::Paths,
    warn::OrWarn as _,
};

/// For a card of the recorded machine, where nothing else of it is here.
const CARDS: Duration = Duration::from_secs(10);

/// Sets the state of another machine or installation aside. Nothing of it holds the boot: it stays where it cannot be moved.
///
/// # Errors
/// The cards that decide whose state it is cannot be read.
pub(super) async fn set_others_aside(run: &Run<'_>) -> Result<(), NetworkError> {
    let paths = run.paths;
    match owner::of_state(paths) {
        Owner::ThisInstallation => return Ok(()),
        Owner::Another => {}
        Owner::DecidedByCards => {
            let recorded = Record::load(paths).machine.unwrap_or_default();
            if is_here(run, &recorded).await? || knows_the_document(paths).await {
                return Ok(());
            }
        }
    }
    match owner::set_aside(paths) {
        Ok(aside) => run.warn(&format!(
            "the state in /var/lib/dayone is of another installation (other machine-id) or of another machine (other SMBIOS UUID \
             and network cards): nothing of it is used; it was moved to {}",
            aside.display()
        )),
        Err(error) => run.warn(&format!("the state of another machine or installation stays: {}", chain(&error))),
    }
    Ok(())
}

/// Whether one of the recorded cards is here, or comes.
async fn is_here(run: &Run<'_>, recorded: &Machine) -> Result<bool, NetworkError> {
    let here = Machine::here(run.paths, machine::cards(run.paths).await?);
    if recorded.has_card_of(&here) {
        return Ok(true);
    }
    let cards: Vec<LinkRef> =
        recorded.cards.iter().filter_map(|card| Mac::parse(card)).map(LinkRef::Mac).collect();
    if cards.is_empty() || !run.paths.is_system() {
        return Ok(false);
    }
    let netlink = Netlink::connect()?;
    let say = |text: &str, bound| run.progress.say(text, bound);
    let recorded = Uplinks { cards, ..Uplinks::default() };
    match recorded.wait(&netlink, (Instant::now(), CARDS), &say).await {
        Ok(()) => Ok(true),
        Err(NetworkError::NotReady { .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns whether the state knows the document that is this node's by its name. A machine whose board and cards were replaced has
/// both. A clone of its disk has another name, or another document under it. `cluster.yml` may be the same on both.
async fn knows_the_document(paths: &Paths) -> bool {
    let Some(chosen) =
        document::choose(paths, None, Duration::ZERO, || ()).await.or_warn_of("whose the state is")
    else {
        return false;
    };
    let cluster = paths.documents().join("cluster.yml");
    let Some(document) = chosen.document.filter(|document| document.path != cluster) else {
        return false;
    };
    let open = journal::read(paths).or_warn().flatten();
    let record = Record::load(paths);
    [
        record.committed.map(|committed| committed.digest),
        record.failures.map(|failures| failures.digest),
        open.map(|journal| journal.digest),
    ]
    .contains(&Some(document.digest))
}

/// Records this machine as that of the state, before there is one and when its parts change.
pub(super) async fn remember(paths: &Paths) {
    let cards =
        machine::cards(paths).await.or_warn_of("the cards are not recorded").unwrap_or_default();
    let here = Machine::here(paths, cards);
    here.record(paths).or_warn_of("the machine cannot be recorded");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        document::{Document, digest::Digest},
        durable::record::Failures,
    };

    const GOOD: &str = "interfaces: []\n";
    const BAD: &str = "interfaces: []\nroutes: {}\n";

    #[tokio::test]
    async fn a_replaced_board_keeps_the_state_of_its_document()
    -> Result<(), Box<dyn std::error::Error>> {
        for (why, name, file, text, is_known) in [
            ("the document in force", "worker-0", "worker-0.yml", GOOD, true),
            ("one that failed", "worker-0", "worker-0.yml", BAD, true),
            ("a new one", "worker-0", "worker-0.yml", "{}\n", false),
            ("a clone, whose documents all nodes have", "worker-1", "worker-0.yml", GOOD, false),
            ("a document that a clone has too", "worker-0", "cluster.yml", GOOD, false),
        ] {
            let root = tempfile::tempdir()?;
            let paths = Paths::new(root.path());
            std::fs::create_dir_all(paths.documents())?;
            std::fs::create_dir_all(paths.state_dir())?;
            std::fs::write(paths.under("/etc/hostname"), name)?;
            std::fs::write(paths.documents().join(file), text)?;
            let document = Document {
                path: "/etc/nmstate/openshift/worker-0.yml".into(),
                text: GOOD.to_owned(),
                digest: Digest::of(GOOD.as_bytes()),
                mode: 0o644,
            };
            let failures = Failures {
                digest: Digest::of(BAD.as_bytes()),
                count: 1,
                last_error: String::new(),
                boot_id: String::new(),
                cut_off: 0,
            };
            Record::update(&paths, |record| {
                *record =
                    Record { failures: Some(failures), ..Record::of(&document, Record::default()) };
            })?;
            assert_eq!(knows_the_document(&paths).await, is_known, "{why}");
        }
        Ok(())
    }
}

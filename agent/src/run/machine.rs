//! The machine of the durable state, at the start of a run and after its success.

use std::time::Duration;

use nmgen::chain;
use tokio::time::Instant;

use super::Run;
use crate::{
    client::netlink::Netlink,
    durable::{
        machine::{self, Machine, Owner},
        owner,
        record::Record,
    },
    model::{LinkRef, Mac, Uplinks},
    network::NetworkError,
    paths::Paths,
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
            if is_here(run, &recorded).await? {
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

/// Records this machine as that of the state, before there is one and when its parts change.
pub(super) async fn remember(paths: &Paths) {
    let cards = machine::cards(paths).await.unwrap_or_else(|error| {
        tracing::warn!("the cards are not recorded: {}", chain(&error));
        Vec::new()
    });
    let here = Machine::here(paths, cards);
    if let Err(error) = here.record(paths) {
        tracing::warn!("the machine cannot be recorded: {}", chain(&error));
    }
}

//! A document already in force, by the agent or by another tool: no transaction, where its network works.

use std::time::Duration;

use nmgen::chain;

use super::{
    Run,
    last_good::last_good_if_readable,
    proof::{NetworkProof, prove, prove_by_document},
};
use crate::{
    client::netlink::Netlink,
    document::{self, Document, digest::Digest, service_files::ServiceFolder},
    durable::{self, commit, record::Record},
    error::Result,
    model::{Uplinks, Wants},
    network::{Network as _, NetworkError, real::first_wants},
    paths::Paths,
    state::{Parsed, State},
    status::Success,
    warn::OrWarn as _,
};

/// The outcome of a document that needs no transaction: in force already, or applied by another
/// tool. `None`: apply it.
pub(super) async fn skip_if_in_force(
    run: &Run<'_>,
    record: &Record,
    document: &Document,
    files: &ServiceFolder,
) -> Result<Option<Success>> {
    if !record.in_force(run.paths, &document.digest)? {
        let Some(adopted) = Adopted::find(run.paths, record, document)? else {
            return Ok(None);
        };
        return match prove_by_document(run, &adopted.wants).await? {
            NetworkProof::Broken => Ok(apply_again(run)),
            proof @ (NetworkProof::Whole | NetworkProof::Silent) => {
                adopted.record(run, document, files, proof).await
            }
        };
    }
    if !record.has_service_files(&files.digests()) {
        tracing::info!("files of /etc/nmstate changed; they are applied with the document");
        return Ok(None);
    }
    // Each commit records its network.
    let Some(uplinks) = record.uplinks() else { return Ok(None) };
    Ok(match prove(run, uplinks).await? {
        NetworkProof::Whole | NetworkProof::Silent => Some(Success::Unchanged),
        NetworkProof::Broken => apply_again(run),
    })
}

/// The record of the document in force, with its network.
pub(super) fn recorded_in_force(paths: &Paths) -> Option<(Record, Uplinks)> {
    let record = Record::load(paths);
    record.document_in_force(paths)?;
    let uplinks = record.uplinks()?.clone();
    Some((record, uplinks))
}

/// What this node's document asks for, as far as it can be told, and whether it is in force.
pub(crate) async fn wants_of_document(
    paths: &Paths,
    netlink: &Netlink,
) -> Result<(Wants, bool), NetworkError> {
    let in_force = Record::load(paths).document_in_force(paths);
    let chosen = document::choose(paths, in_force.as_ref(), Duration::ZERO, || {}).await;
    let Some(document) = chosen.ok().and_then(|chosen| chosen.document) else {
        return Ok((Wants::default(), false));
    };
    let links = netlink.links().await?;
    let wants = Parsed::new(&document.text).map(|parsed| first_wants(&parsed, &links));
    let is_in_force = in_force.is_some_and(|of| of.digest == document.digest);
    Ok((wants.unwrap_or_default(), is_in_force))
}

/// Forgets failed attempts to apply the document again: its network works.
pub(super) fn forget_failures(run: &Run<'_>) {
    if let Err(error) = Record::update(run.paths, Record::forget_failures_in_force) {
        run.warn(&format!("the record keeps the failures of earlier attempts: {}", chain(&error)));
    }
}

/// Records the cards that carry the network now, where none of the recorded ones is there: the network is proved without them.
pub(super) async fn record_replaced_cards(run: &Run<'_>) {
    let replaced = replaced_cards(run).await.or_warn_of("replaced cards are not recorded");
    if let Some(gone) = replaced.flatten() {
        run.warn(&format!(
            "the recorded network card is gone ({gone}); another one is recorded. An interface with copy-mac-from keeps the MAC \
             address of that card until another document is applied: the card must not be used on this network meanwhile"
        ));
        run.status.write();
    }
}

async fn replaced_cards(run: &Run<'_>) -> Result<Option<String>> {
    let record = Record::load(run.paths);
    let Some(before) = record.uplinks() else { return Ok(None) };
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    let last_good = last_good_if_readable(&record);
    let wants = last_good.map(|state| state.wants()).unwrap_or_default();
    let Some(now) = before.with_other_cards(&netlink, &wants).await? else { return Ok(None) };
    Record::update(run.paths, |record| record.set_uplinks(now))?;
    let gone: Vec<String> = before.cards.iter().map(ToString::to_string).collect();
    Ok(Some(gone.join(", ")))
}

/// Says that the document is applied again.
fn apply_again(run: &Run<'_>) -> Option<Success> {
    run.warn(
        "the network did not return: applying the document again; where that succeeds, changes made since its commit go",
    );
    None
}

/// A document in force according to `applied`.
pub(crate) struct Adopted {
    parsed: Parsed,
    wants: Wants,
}

impl Adopted {
    /// `applied` has the document's bytes, or is the empty mark that nmstate-configuration leaves up
    /// to 4.19, with no commit of the agent's own before it.
    pub(crate) fn find(
        paths: &Paths,
        record: &Record,
        document: &Document,
    ) -> Result<Option<Self>> {
        let Some(applied) = durable::read(&paths.applied())? else { return Ok(None) };
        let is_mark = applied.is_empty() && record.committed.is_none();
        if !is_mark && Digest::of(&applied) != document.digest {
            return Ok(None);
        }
        // The checks refuse an unparsable document, with the position of the error.
        let Ok(parsed) = Parsed::new(&document.text) else { return Ok(None) };
        let wants = parsed.first_wants();
        Ok(Some(Self { parsed, wants }))
    }

    /// Writes the record and the last good document, and reports drift. `None`: apply the document. Beside a silent gateway a drift
    /// may be what the network lacks, such as a card's profile that the other tool did not come to write.
    async fn record(
        self,
        run: &Run<'_>,
        document: &Document,
        files: &ServiceFolder,
        proof: NetworkProof,
    ) -> Result<Option<Success>> {
        let (resolved, uplinks) = match self.look(run, proof).await {
            Ok(Some(seen)) => seen,
            Ok(None) => return Ok(apply_again(run)),
            // A NetworkState resolves without the current state, and a working network must not
            // wait for it.
            Err(error) if !self.parsed.needs_current() => {
                run.warn(&format!("drift unknown: {}", chain(&error)));
                let netlink = Netlink::connect().map_err(NetworkError::from)?;
                let uplinks = Uplinks::seen(&netlink, &self.wants, Vec::new()).await?;
                (self.parsed.resolve(None)?, uplinks)
            }
            Err(error) => return Err(error),
        };
        let resolved = resolved.to_yaml()?;
        let adopted = commit::adopt(run.paths, document, &resolved, uplinks, &files.digests());
        // A network that works needs no record for this boot: a full or read-only disk is a warning.
        if let Err(error) = adopted {
            run.warn(&format!(
                "the network works and is not recorded; the next boot tries again: {}",
                chain(&error)
            ));
        }
        Ok(Some(Success::Adopted))
    }

    async fn look(&self, run: &Run<'_>, proof: NetworkProof) -> Result<Option<(State, Uplinks)>> {
        let network = run.connect().await?;
        let say = |text: &str, bound| run.progress.say(text, bound);
        network.ready(&Wants::default(), &say).await?;
        let current = network.current().await?;
        let desired = network.resolve_links(self.parsed.resolve(Some(&current))?).await?;
        if let Some(missing) = desired.missing_in(&current)? {
            run.warn(&format!("the current state has drifted: {}", missing.subjects().join(", ")));
            if proof == NetworkProof::Silent {
                return Ok(None);
            }
        }
        let uplinks = network.uplinks(&desired.wants()).await?;
        Ok(Some((desired, uplinks)))
    }
}

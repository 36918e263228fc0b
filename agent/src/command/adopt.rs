//! Adoption of a document that another tool has put in force: recorded, not applied.

use super::decide::Attempt;
use nmgen::chain;

use crate::{
    client::netlink::Netlink,
    document::{Document, digest::Digest, service_files::Found},
    durable::{self, commit, record::Record},
    error::Error,
    model::Uplinks,
    model::Wants,
    network::{Network as _, NetworkError, real::RealNetwork},
    paths::Paths,
    state::{Parsed, State},
    status::Success,
};

/// A document in force according to `applied`.
pub(super) struct Adopted {
    parsed: Parsed,
    pub(super) wants: Wants,
}

impl Adopted {
    /// `applied` has the document's bytes, or is the empty mark that nmstate-configuration leaves up
    /// to 4.19, with no commit of the agent's own before it.
    pub(super) fn find(
        paths: &Paths,
        record: &Record,
        document: &Document,
    ) -> Result<Option<Self>, Error> {
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

    /// Writes the record and the last good document, and reports drift.
    pub(super) async fn record(
        self,
        run: &Attempt<'_>,
        document: &Document,
        files: &Found,
    ) -> Result<Success, Error> {
        let (resolved, uplinks) = match self.look(run).await {
            Ok(seen) => seen,
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
        commit::adopt(run.paths, document, &resolved.to_yaml()?, uplinks, &files.digests())?;
        Ok(Success::Adopted)
    }

    async fn look(&self, run: &Attempt<'_>) -> Result<(State, Uplinks), Error> {
        let network = RealNetwork::connect(run.paths, &run.settings.wait).await?;
        let say = |text: &str, bound| run.progress.say(text, bound);
        network.ready(&Wants::default(), &say).await?;
        let current = network.current().await?;
        let desired = network.resolve_links(self.parsed.resolve(Some(&current))?).await?;
        if let Some(missing) = desired.missing_in(&current)? {
            run.warn(&format!("the current state has drifted: {}", missing.subjects().join(", ")));
        }
        let uplinks = network.uplinks(&desired.wants()).await?;
        Ok((desired, uplinks))
    }
}

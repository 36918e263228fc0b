//! A document already in force: no transaction, where its network works.

use super::{adopt::Adopted, decide::Attempt, last_good::last_good_state};
use nmgen::chain;

use crate::{
    client::netlink::Netlink,
    document::{Document, service_files::Found},
    durable::record::Record,
    error::Error,
    model::Uplinks,
    model::Wants,
    network::NetworkError,
    paths::Paths,
    status::Success,
};

impl Attempt<'_> {
    /// The outcome of a document that needs no transaction: in force already, or applied by another
    /// tool. `None`: apply it.
    pub(super) async fn settle(
        &self,
        document: &Document,
        files: &Found,
    ) -> Result<Option<Success>, Error> {
        let mut record = Record::load(self.paths);
        if !record.in_force(self.paths, &document.digest)? {
            let Some(adopted) = Adopted::find(self.paths, &record, document)? else {
                return Ok(None);
            };
            return match self.is_proved(&Uplinks::declared(&adopted.wants)).await? {
                true => adopted.record(self, document, files).await.map(Some),
                false => Ok(None),
            };
        }
        if !record.has_service_files(&files.digests()) {
            tracing::info!("files of /etc/nmstate changed; they are applied with the document");
            return Ok(None);
        }
        if let Some(uplinks) = record.committed.as_ref().and_then(|c| c.uplinks.as_ref()) {
            return Ok(self.is_proved(uplinks).await?.then_some(Success::Unchanged));
        }
        let wants = last_good_wants(self.paths);
        if !self.is_proved(&Uplinks::declared(&wants)).await? {
            return Ok(None);
        }
        self.complete(&mut record, &wants, files).await?;
        Ok(Some(Success::Unchanged))
    }

    /// Adds the current families and files to the record of an older version, which has neither.
    async fn complete(
        &self,
        record: &mut Record,
        wants: &Wants,
        files: &Found,
    ) -> Result<(), Error> {
        let netlink = Netlink::connect().map_err(NetworkError::from)?;
        let uplinks = Uplinks::seen(&netlink, wants, Vec::new()).await?;
        Ok(record.complete(self.paths, uplinks, &files.digests())?)
    }
}

/// Prerequisites of the document in force; empty if it is unreadable, so that nothing is awaited.
fn last_good_wants(paths: &Paths) -> Wants {
    match last_good_state(paths) {
        Ok(state) => state.map(|state| state.wants()).unwrap_or_default(),
        Err(error) => {
            tracing::warn!("{}", chain(&error));
            Wants::default()
        }
    }
}

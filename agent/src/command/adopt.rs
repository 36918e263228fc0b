//! `dayone adopt`: a change of the network in force that was made on purpose is no drift.

use serde_json::json;

use super::{
    difference::{Differences, from_record},
    output::print,
    services,
};
use crate::{
    cli::Form,
    client::netlink::Netlink,
    document,
    durable::{adopted::AdoptedChange, record::Record, record_file},
    error::{Error, Result},
    lock,
    network::NetworkError,
    paths::Paths,
    run::{marks, waits},
    settings::Usable,
    status::log::message_id,
};

/// The longest reason in characters.
const REASON: usize = 500;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Adoption {
    /// The differences of now, if the network leads out.
    OfAWorkingNetwork,
    /// The differences of now, whatever they are.
    Forced,
    /// Nothing any more.
    Forget,
}

/// Records the differences of now, or forgets them.
pub(crate) async fn adopt(
    paths: &Paths,
    reason: Option<&str>,
    adoption: Adoption,
    form: Form,
) -> Result {
    let settings = Usable::load(paths).told();
    // The half-done work of a run is not adopted.
    let _lock = lock::take(paths, "adopt", settings.wait.turn.get(), waits).await?;
    let record = Record::load(paths);
    let Some(in_force) = record.document_in_force(paths) else { return Err(nothing_in_force()) };
    let document = in_force.source.display().to_string();
    let lines = match adoption {
        Adoption::Forget => Vec::new(),
        Adoption::OfAWorkingNetwork | Adoption::Forced => {
            let chosen =
                document::choose(paths, Some(&in_force), settings.wait.hostname.get(), || {});
            let chosen =
                chosen.await?.document.filter(|document| document.digest == in_force.digest);
            let Some(chosen) = chosen else { return Err(nothing_in_force()) };
            services::required(paths, services::needs_ovs(&chosen)).await?;
            if adoption == Adoption::OfAWorkingNetwork {
                leads_out(&record).await?;
            }
            from_record(paths, &settings, &record).await?.as_ref().map(Differences::lines)
        }
        .unwrap_or_default(),
    };
    let reason: Option<String> = reason.map(|reason| reason.chars().take(REASON).collect());
    let adopted = match lines.is_empty() {
        // A change that is gone is not adopted any more.
        true => None,
        false => Some(AdoptedChange::new(&lines, reason.clone())),
    };
    let was_there = adopted.is_none() && record.adopted_change().is_some();
    Record::update(paths, |record| {
        if let Some(committed) = &mut record.committed {
            committed.adopted_change.clone_from(&adopted);
        }
    })?;
    let told = match (&adopted, was_there) {
        (Some(_), _) => format!("adopted: the network differs from {document} on purpose"),
        (None, true) => format!("forgotten: any difference from {document} is drift"),
        (None, false) => "nothing to do".to_owned(),
    };
    if adopted.is_some() || was_there {
        let why = reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
        tracing::info!(
            message_id = message_id::CHANGE_ADOPTED,
            dayone_document = %document,
            dayone_digest = %in_force.digest,
            "{told}{why}"
        );
        let outcome = if adopted.is_some() { "change-adopted" } else { "change-forgotten" };
        record_file::append(paths, &in_force.digest, &in_force.source, outcome, reason.as_deref())?;
        marks::ended(paths);
    }
    print(&match form {
        Form::Text => {
            lines.iter().map(|line| format!("{line}\n")).collect::<String>() + &told + "\n"
        }
        Form::Json => format!(
            "{:#}\n",
            json!({
                "schema": 1,
                "version": env!("CARGO_PKG_VERSION"),
                "document": document,
                "digest": in_force.digest,
                "at": adopted.as_ref().map(|change| change.at),
                "reason": reason,
                "adopted": lines,
                "forgotten": was_there,
            })
        ),
    })
}

/// An error if no recorded family has an address and a default route: a boot would wait for them.
async fn leads_out(record: &Record) -> Result {
    let Some(uplinks) = record.uplinks().filter(|uplink| !uplink.families.is_empty()) else {
        return Ok(());
    };
    let netlink = Netlink::connect().map_err(NetworkError::from)?;
    if !uplinks.usable_families(&netlink).await?.is_empty() {
        return Ok(());
    }
    let reason = "the network has no address with a default route, for which the next boot would wait; \
                  `dayone rollback` puts the document's network back, `dayone adopt --force` adopts \
                  this one";
    Err(Error::NotInForce { line: "nothing was adopted".to_owned(), reason: reason.to_owned() })
}

fn nothing_in_force() -> Error {
    let reason =
        "a change is adopted only beside a document in force; `dayone status` has the rest";
    Error::NotInForce { line: "nothing was adopted".to_owned(), reason: reason.to_owned() }
}

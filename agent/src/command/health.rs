//! `dayone health`: whether the node is as its document wants, as one unit that fails.
//!
//! The verdict is that of `dayone status`. What is cheap decides whether NetworkManager is asked for it: the kernel's links,
//! addresses and default routes, and which files are there, are as they were at the last look.

mod account;
mod picture;

use std::path::Path;

use self::account::{HealthRecord, SCHEMA};
use super::{
    output::{as_json, print},
    status::{Depth, look},
};
use crate::{
    cli::Form,
    durable,
    error::Result,
    lock,
    paths::Paths,
    settings::Usable,
    status::{
        create_runtime_dir,
        log::{self, message_id},
        now, write_in_runtime,
    },
    warn::OrWarn as _,
};

/// The longest time for which an account stands without a look at the network, in milliseconds.
const STANDS: u64 = 30 * 60 * 1000;

/// Prints the account; an error unless the node is healthy.
pub(crate) async fn health(paths: &Paths, form: Form, only: Option<&str>) -> Result {
    if let Some(reason) = only {
        return of_reason(paths, reason);
    }
    let account = if log::is_service() {
        // Gone before the look, as by its unit, which removes it where this program cannot be started: an end during the look is
        // a mark of its own.
        durable::remove(&paths.ended())?;
        let earlier: Option<HealthRecord> = durable::read_json_or_set_aside(&paths.health())?;
        let account = watched(paths, earlier.as_ref()).await?;
        tell(&account, earlier.as_ref());
        keep(paths, &account, earlier.as_ref())?;
        account
    } else {
        looked(paths, None, String::new()).await?
    };
    let text = match form {
        Form::Json => as_json(&account)?,
        Form::Text if log::is_service() => String::new(),
        Form::Text => format!("{}\n", account.sentence()),
    };
    print(&text)?;
    account.result()
}

/// The unit of one reason: an error while the last account fails for it.
fn of_reason(paths: &Paths, reason: &str) -> Result {
    // Gone before the account is read, which is written before its mark.
    durable::remove(&paths.health_mark(reason))?;
    let account: Option<HealthRecord> = durable::read_json_or_set_aside(&paths.health())?;
    match account.filter(|account| account.failed && account.reason == reason) {
        Some(account) => {
            print(&format!("{}\n", account.sentence()))?;
            account.result()
        }
        None => Ok(()),
    }
}

/// The account of now, by a look at the network only where something has changed.
async fn watched(paths: &Paths, earlier: Option<&HealthRecord>) -> Result<HealthRecord> {
    if lock::at_work(paths).is_some() {
        // Between two looks that differ: never the base of a later one.
        return looked(paths, earlier, String::new()).await;
    }
    let picture = picture::picture(paths).await.or_warn().unwrap_or_default();
    match earlier.filter(|account| {
        !picture.is_empty()
            && account.picture == picture
            && now().saturating_sub(account.looked) < STANDS
    }) {
        Some(account) => Ok(account.clone().aged(&Usable::load(paths).settings.health, now())),
        None => looked(paths, earlier, picture).await,
    }
}

/// The account by a look at the network, or at the files alone while a run is at work.
async fn looked(
    paths: &Paths,
    earlier: Option<&HealthRecord>,
    picture: String,
) -> Result<HealthRecord> {
    let settings = Usable::load(paths).settings;
    let depth = if lock::at_work(paths).is_some() { Depth::Files } else { Depth::Network };
    let (node, assessment) = look(paths, &settings, depth).await?;
    let (row, document) = (assessment.verdict.row(), node.chosen.document);
    let looked = now();
    let same = earlier.filter(|earlier| earlier.reason == row.unit);
    let account = HealthRecord {
        schema: SCHEMA,
        hostname: node.chosen.hostname,
        failed: false,
        reason: row.unit.to_owned(),
        verdict: row.word.to_owned(),
        line: assessment.line,
        why: assessment.reason,
        digest: document.as_ref().map(|document| document.digest.to_string()),
        document: document.map(|document| document.path),
        since: same.map_or(looked, |earlier| earlier.since),
        looked,
        patience: row.patience,
        picture,
    };
    Ok(account.aged(&settings.health, looked))
}

/// The journal gets a change alone: the unit's state is there for the rest.
fn tell(account: &HealthRecord, earlier: Option<&HealthRecord>) {
    let was = earlier.filter(|earlier| earlier.failed).map(|earlier| earlier.reason.as_str());
    let document = account.document.as_deref().unwrap_or_else(|| Path::new("")).display();
    let digest = account.digest.as_deref().unwrap_or_default();
    match (account.failed, was) {
        (true, was) if was != Some(&*account.reason) => tracing::error!(
            message_id = message_id::UNHEALTHY,
            dayone_document = %document,
            dayone_digest = digest,
            dayone_reason = account.reason,
            "{}", account.sentence()
        ),
        (false, Some(was)) => tracing::info!(
            message_id = message_id::HEALTHY,
            dayone_document = %document,
            dayone_digest = digest,
            dayone_reason = was,
            "no longer {was}: {}", account.line
        ),
        (true | false, _) => {}
    }
}

/// Writes the account, and marks the reasons whose units have to look.
fn keep(paths: &Paths, account: &HealthRecord, earlier: Option<&HealthRecord>) -> Result {
    let reasons = account.reasons_to_look(earlier);
    if earlier != Some(account) {
        write_in_runtime(&paths.health(), account)?;
    }
    for reason in reasons {
        let mark = paths.health_mark(reason);
        mark.parent().map_or(Ok(()), create_runtime_dir)?;
        durable::write(&mark, b"", 0o644)?;
    }
    Ok(())
}

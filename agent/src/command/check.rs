//! `dayone check`: checks the document of the next boot without applying it.

use std::path::Path;

use nmgen::chain;

use super::output::print;
use crate::{
    document::{self, Document, check, service_files},
    durable::record::Record,
    error::Error,
    paths::Paths,
    run::last_good::removed,
    settings::Settings,
    state::Parsed,
    status::log::{self, message_id},
};

/// Reports what a boot would do; as a service, to the journal.
pub(crate) async fn check(paths: &Paths, file: Option<&Path>) -> Result<(), Error> {
    let result = match file {
        Some(file) => given(paths, file),
        // Strict, where a boot takes the default: somebody reads this.
        None => checked(paths).await.and_then(|()| Ok(Settings::load(paths).map(drop)?)),
    };
    if let Err(error) = &result
        && log::is_service()
    {
        tracing::error!(message_id = message_id::REFUSED, "{}", chain(error));
    }
    result
}

/// Checks a file that need not be this node's document, nor anything else on this node.
fn given(paths: &Paths, file: &Path) -> Result<(), Error> {
    let chosen = document::given(paths, file)?;
    let Some(document) = chosen.document else { return Ok(()) };
    let parsed = check::check(&document)?;
    // Another machine's document may be checked here, with other links.
    if let Err(error) = check::copied_macs(paths, &document, &parsed) {
        tracing::warn!("on this machine: {error}");
    }
    let path = document.path.display();
    if Record::load(paths).in_force(paths, &document.digest)? {
        return print(&format!("{path} is valid; its content is in force\n"));
    }
    print(&format!("{path} is valid{}\n", needs(&parsed)))
}

/// The boot's work for a policy, after the verdict.
fn needs(parsed: &Parsed) -> &'static str {
    if parsed.captures_alternative_names() {
        return "; it captures an alternative name: nodeip-configuration.service, which gives `primary`, runs before the transaction";
    }
    if parsed.needs_current() {
        return "; what it captures is awaited";
    }
    ""
}

async fn checked(paths: &Paths) -> Result<(), Error> {
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let bound = std::time::Duration::ZERO;
    let chosen = document::choose(paths, in_force.as_ref(), bound, || {}).await?;
    for warning in &chosen.warnings {
        tracing::warn!("{warning}");
    }
    let Some(document) = chosen.document else {
        let gone = removed(paths, &record);
        let gone = gone.map(|path| format!("; {} was removed; its network stays", path.display()));
        return say(&format!("{}{}", chosen.reason, gone.unwrap_or_default()));
    };
    let files = service_files::read(paths, &chosen.hostname)?;
    let parsed = check::check(&document)?;
    check::copied_macs(paths, &document, &parsed)?;
    files.due(&[])?;
    if record.in_force(paths, &document.digest)? && record.has_service_files(&files.digests()) {
        return say(&format!("{} is in force", document.path.display()));
    }
    pending(&document, &parsed)
}

fn pending(document: &Document, parsed: &Parsed) -> Result<(), Error> {
    let (path, digest, needs) = (document.path.display(), &document.digest, needs(parsed));
    let text = format!("{path} is valid and pending: the next boot applies {digest}{needs}");
    if !log::is_service() {
        return say(&text);
    }
    tracing::info!(
        message_id = message_id::PENDING,
        dayone_document = %path,
        dayone_digest = %digest,
        "{text}"
    );
    Ok(())
}

/// As a service, prints nothing: the journal gets only pending and refused documents.
fn say(text: &str) -> Result<(), Error> {
    if log::is_service() {
        tracing::debug!("{text}");
        return Ok(());
    }
    print(&format!("{text}\n"))
}

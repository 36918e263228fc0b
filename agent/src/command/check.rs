//! `dayone check`: checks the document of the next boot without applying it.

use std::path::Path;

use nmgen::chain;
use serde::Serialize;
use serde_json::json;

use super::output::print_of;
use crate::{
    cli::Form,
    document::{self, Document, check, digest::Digest, machine_config, service_files},
    durable::{boot_id, record::Record},
    error::{Error, Result},
    paths::Paths,
    run::{last_good::removed, marks},
    settings::Settings,
    status::log::{self, message_id},
};

/// A boot's way with a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum BootPath {
    /// It is done already.
    InForce,
    /// The next boot applies it.
    Pending,
    /// The given file could be this node's document.
    Valid,
    NoDocument,
    /// The next boot would refuse it.
    Refused,
}

/// `dayone check --format json`; `doc/check.schema.json` describes it.
#[derive(Clone, Serialize)]
struct CheckReport {
    schema: u32,
    version: &'static str,
    verdict: BootPath,
    document: Option<String>,
    digest: Option<String>,
    /// The verdict in words.
    reason: String,
    warnings: Vec<String>,
}

impl CheckReport {
    fn new(verdict: BootPath, document: Option<&Document>, reason: String) -> Self {
        Self {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            verdict,
            document: document.map(|document| document.path.display().to_string()),
            digest: document.map(|document| document.digest.to_string()),
            reason,
            warnings: Vec::new(),
        }
    }
}

/// Reports what a boot would do; as a service, to the journal.
pub(crate) async fn check(paths: &Paths, file: Option<&Path>, form: Form) -> Result {
    let mut warnings = Vec::new();
    let result = match file {
        Some(file) => given(paths, file, &mut warnings),
        // Strict, where a boot takes the default: somebody reads this.
        None => match checked(paths, &mut warnings).await {
            Ok(report) => Settings::load(paths).map(|_| report).map_err(Error::from),
            Err(error) => Err(error),
        },
    };
    if form == Form::Text {
        for warning in &warnings {
            tracing::warn!("{warning}");
        }
    }
    if log::is_service() && file.is_none() {
        marks::ended(paths);
    }
    match (result, form) {
        (result, Form::Json) => {
            let refused = |error: &Error| CheckReport::new(BootPath::Refused, None, chain(error));
            let mut report = result.as_ref().map_or_else(refused, |report| report.clone());
            report.warnings = warnings;
            print_of(paths, &format!("{:#}\n", json!(report)))?;
            result.map(drop)
        }
        (Err(error), Form::Text) => {
            if log::is_service() {
                tracing::error!(message_id = message_id::REFUSED, "{}", chain(&error));
            }
            Err(error)
        }
        (Ok(report), Form::Text) => told(paths, &report),
    }
}

/// As a service, prints nothing: the journal gets only pending and refused documents.
fn told(paths: &Paths, report: &CheckReport) -> Result {
    if !log::is_service() {
        return print_of(paths, &format!("{}\n", report.reason));
    }
    match (report.verdict, &report.document, &report.digest) {
        (BootPath::Pending, Some(path), Some(digest)) => tracing::info!(
            message_id = message_id::PENDING,
            dayone_document = %path,
            dayone_digest = %digest,
            "{}", report.reason
        ),
        _ => tracing::debug!("{}", report.reason),
    }
    Ok(())
}

/// Returns what the page says of a text that has failed on this node.
fn failed(paths: &Paths, record: &Record, digest: &Digest) -> Option<String> {
    let failures = record.known_failures(digest)?;
    let last = match failures.boot_id == boot_id(paths) {
        true => ", last in this boot",
        false => ", last in an earlier boot",
    };
    Some(format!(", but {}", failures.in_words(last)))
}

/// Checks a file that need not be this node's document, nor anything else on this node.
fn given(paths: &Paths, file: &Path, warnings: &mut Vec<String>) -> Result<CheckReport> {
    let chosen = document::given(paths, file)?;
    let Some(document) = &chosen.document else {
        return Ok(CheckReport::new(BootPath::NoDocument, None, chosen.reason));
    };
    let parsed = check::check(document)?;
    // Another machine's document may be checked here, with other links.
    if let Err(error) = check::copied_macs(paths, document, &parsed) {
        warnings.push(format!("on this machine: {error}"));
    }
    warnings.extend(machine_config::edited_files(paths, &parsed));
    let path = document.path.display();
    let record = Record::load(paths);
    let (verdict, reason) = match record.in_force(paths, &document.digest)? {
        true => (BootPath::InForce, format!("{path} is valid; its content is in force")),
        false => {
            let failed = failed(paths, &record, &document.digest).unwrap_or_default();
            (BootPath::Valid, format!("{path} is valid{failed}"))
        }
    };
    Ok(CheckReport::new(verdict, Some(document), reason))
}

async fn checked(paths: &Paths, warnings: &mut Vec<String>) -> Result<CheckReport> {
    let record = Record::load(paths);
    let in_force = record.document_in_force(paths);
    let bound = std::time::Duration::ZERO;
    let chosen = document::choose(paths, in_force.as_ref(), bound, || {}).await?;
    warnings.extend(chosen.warnings.iter().map(ToString::to_string));
    let Some(document) = &chosen.document else {
        let gone = removed(paths, &record);
        let gone = gone.map(|path| format!("; {} was removed; its network stays", path.display()));
        let reason = format!("{}{}", chosen.reason, gone.unwrap_or_default());
        return Ok(CheckReport::new(BootPath::NoDocument, None, reason));
    };
    let files = service_files::read(paths, &chosen.hostname)?;
    let parsed = check::check(document)?;
    check::copied_macs(paths, document, &parsed)?;
    files.due(&[])?;
    warnings.extend(machine_config::edited_files(paths, &parsed));
    let (path, digest) = (document.path.display(), &document.digest);
    let is_in_force = record.in_force(paths, digest)? && record.has_service_files(&files.digests());
    let (verdict, reason) = match is_in_force {
        true => (BootPath::InForce, format!("{path} is in force")),
        false => {
            let reason = match failed(paths, &record, digest) {
                Some(failed) => {
                    format!("{path} is valid{failed}; {digest} is tried again")
                }
                None => format!("{path} is valid and pending: the next boot applies {digest}"),
            };
            (BootPath::Pending, reason)
        }
    };
    Ok(CheckReport::new(verdict, Some(document), reason))
}

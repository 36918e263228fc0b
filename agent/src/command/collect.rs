//! `dayone collect`: this node in one file, without secrets.

mod live;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{output::print_bytes, status::text};
use crate::{
    bundle::{self, Bundle, File, Journals, Redactor, SCHEMA, Versions, cards, encode},
    cli::StatusForm,
    document::identity,
    error::{Error, Result},
    model::facts::{Facts, SourceAnswer},
    paths::Paths,
    status,
};

/// Collects, each source within `bound`, and writes to `output`, else to standard output.
pub(crate) async fn collect(paths: &Paths, output: Option<&Path>, bound: Duration) -> Result {
    let bundle = collected(paths, bound).await?;
    let path = output.unwrap_or(Path::new("-"));
    let bytes = encode(&bundle, path)?;
    if path == Path::new("-") {
        return print_bytes(&bytes);
    }
    nmgen::write::write_given(path, bytes).map_err(Error::Given)
}

/// Everything, where a source that fails has its error: a broken node is collected too.
async fn collected(paths: &Paths, bound: Duration) -> Result<Value> {
    let start = Instant::now();
    let mut redactor = Redactor::default();
    let (files, left_out) = bundle::files(paths, &mut redactor);
    let (facts, journals, manager) = match paths.is_system() {
        true => {
            tokio::join!(live::facts(paths, bound), Journals::now(bound), live::version(bound))
        }
        false => {
            let why = "it is not this system";
            (live::none(why), Journals::none(why), SourceAnswer::Error(why.to_owned()))
        }
    };
    let links = match &facts.links {
        SourceAnswer::Value(links) => links.as_slice(),
        SourceAnswer::Error(_) => &[],
    };
    let bundle = Bundle {
        schema: SCHEMA,
        hostname: identity::current(paths)
            .map_or_else(|_| String::new(), |name| name.as_str().into()),
        collected: status::now() / 1000,
        milliseconds: start.elapsed().as_millis().try_into().unwrap_or(u64::MAX),
        role: bundle::role(paths),
        versions: Versions {
            dayone: env!("CARGO_PKG_VERSION").to_owned(),
            network_manager: manager,
            kernel: bundle::short(&paths.under("/proc/version")),
            system: system(&files),
        },
        status: status_of(paths, &facts).await,
        cards: cards(paths, links),
        facts,
        journals: journals.redacted(&redactor),
        files: Vec::new(),
        left_out,
    };
    let undone = |source| bundle::BundleError::Encode { source };
    let mut value = serde_json::to_value(&bundle).map_err(undone)?;
    // Files and journals are done already, by their forms.
    for part in ["status", "facts", "versions"] {
        redactor.value(&mut value[part]);
    }
    value["files"] = serde_json::to_value(&files).map_err(undone)?;
    bundle::replace(&files, &mut value).map_err(|source| bundle::BundleError::Random { source })?;
    Ok(value)
}

/// `dayone status --json`, by what was read already.
async fn status_of(paths: &Paths, facts: &Facts) -> SourceAnswer<Value> {
    let told = match text(&paths.with(facts.clone()), StatusForm::Json).await {
        Ok((text, _)) => serde_json::from_str(&text).map_err(|error| error.to_string()),
        Err(error) => Err(nmgen::chain(&error)),
    };
    told.map_or_else(SourceAnswer::Error, SourceAnswer::Value)
}

/// The name of the operating system, from its file.
fn system(files: &[File]) -> SourceAnswer<String> {
    let text = files.iter().find(|file| file.path == "/etc/os-release").and_then(File::text);
    let name =
        text.and_then(|text| text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")));
    name.map_or_else(
        || SourceAnswer::Error("/etc/os-release has no PRETTY_NAME".to_owned()),
        |name| SourceAnswer::Value(name.trim_matches('"').to_owned()),
    )
}

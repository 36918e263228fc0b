//! `nmgen generate` and `nmgen gc`.

use std::path::Path;

use super::arguments::{GcArguments, GenerateArguments};
use super::check::verdict;
use super::{Done, output};
use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::error::Error;
use crate::pipeline::{self, Converted};
use crate::target::{self, NO_SUCH_HOST, ONE_HOST_ONLY, Target};
use crate::{source, write};

struct Job<'a> {
    target: Target,
    output: Option<&'a Path>,
    host: Option<&'a str>,
    deny_warnings: bool,
    sources: &'a [String],
}

pub(super) fn run(arguments: &GenerateArguments) -> Result<Done, Error> {
    generate(&Job {
        target: arguments.to.into(),
        output: arguments.output.as_deref(),
        host: arguments.host.as_deref(),
        deny_warnings: arguments.deny_warnings,
        sources: &arguments.sources,
    })
}

pub(super) fn gc(arguments: &GcArguments) -> Result<Done, Error> {
    generate(&Job {
        target: Target::Gc,
        output: None,
        host: None,
        deny_warnings: false,
        sources: std::slice::from_ref(&arguments.source),
    })
}

/// Nothing is written unless everything can be.
fn generate(job: &Job<'_>) -> Result<Done, Error> {
    let hosts = source::load(job.sources)?;
    let mut outcome = pipeline::convert(&hosts);
    if let Some(host) = job.host {
        outcome.hosts.retain(|converted| converted.host.as_deref() == Some(host));
        if outcome.hosts.is_empty() {
            outcome.diagnostics.push(whole(NO_SUCH_HOST, job, format!("there is no host {host}")));
        }
    }
    outcome.diagnostics.extend(job.target.losses(&outcome));
    if job.target == Target::Gc && outcome.hosts.len() > 1 {
        let message = format!("gc describes one host; here are {}", outcome.hosts.len());
        outcome
            .diagnostics
            .push(whole(ONE_HOST_ONLY, job, message).help("choose one with --host NAME"));
    }
    output::diagnostics(&outcome.diagnostics);
    let done = verdict(&outcome.diagnostics, job.deny_warnings);
    if done == Done::Success {
        match job.target {
            Target::Keyfiles => keyfiles(job.output, &outcome.hosts)?,
            Target::Gc => gc_yaml(job.output, &outcome.hosts)?,
        }
    }
    Ok(done)
}

fn whole(rule: Rule, job: &Job<'_>, message: String) -> Diagnostic {
    Diagnostic::new(rule, message, Place::file(job.sources.join(" ")))
}

fn keyfiles(path: Option<&Path>, hosts: &[Converted]) -> Result<(), Error> {
    let files = target::files(hosts);
    match path {
        Some(directory) => write::write(directory, &files),
        None => {
            let text: Vec<String> =
                files.iter().map(|file| format!("# {}\n{}", file.path(), file.content)).collect();
            output::text(&text.join("\n"))
        }
    }
}

fn gc_yaml(path: Option<&Path>, hosts: &[Converted]) -> Result<(), Error> {
    let empty = crate::profile::Configuration::default();
    let configuration = hosts.first().map_or(&empty, |converted| &converted.configuration);
    let yaml = target::gc(configuration).map_err(|source| Error::RenderYaml { source })?;
    match path {
        None => output::text(&yaml),
        Some(path) => write::write_file(path, yaml),
    }
}

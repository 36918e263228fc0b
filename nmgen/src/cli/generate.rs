//! `nmgen generate` and `nmgen gc`.

use std::path::Path;

use super::arguments::{GcArguments, GenerateArguments};
use super::check::verdict;
use super::{Done, output};
use crate::diagnostic::{Diagnostic, Place};
use crate::error::Error;
use crate::pipeline::Converted;
use crate::target::{File, NO_SUCH_HOST, Options, Output, Target};
use crate::{pipeline, source, write};

struct Job<'a> {
    target: Target,
    options: Options,
    output: Option<&'a Path>,
    host: Option<&'a str>,
    deny_warnings: bool,
    sources: &'a [String],
}

pub(super) fn run(arguments: &GenerateArguments) -> Result<Done, Error> {
    generate(&Job {
        target: arguments.to.into(),
        #[cfg(feature = "pipelines")]
        options: arguments.options.options()?,
        #[cfg(not(feature = "pipelines"))]
        options: Options::default(),
        output: arguments.output.as_deref(),
        host: arguments.host.as_deref(),
        deny_warnings: arguments.deny_warnings,
        sources: &arguments.sources,
    })
}

pub(super) fn gc(arguments: &GcArguments) -> Result<Done, Error> {
    generate(&Job {
        target: Target::Gc,
        options: Options::default(),
        output: None,
        host: None,
        deny_warnings: false,
        sources: std::slice::from_ref(&arguments.source),
    })
}

/// Nothing is written unless everything can be.
fn generate(job: &Job<'_>) -> Result<Done, Error> {
    let mut outcome = pipeline::convert_for(source::load(job.sources)?, job.target);
    if let Some(host) = job.host {
        let is_it = |converted: &Converted| converted.host.name.as_deref() == Some(host);
        if !outcome.hosts.iter().any(is_it) {
            let place = Place::file(job.sources.join(" "));
            let message = format!("there is no host {host}");
            let diagnostic = Diagnostic::new(NO_SUCH_HOST, message, place);
            outcome.diagnostics.push(diagnostic.help(those_there(&outcome.hosts)));
        }
        outcome.hosts.retain(is_it);
    }
    let rendered = job.target.render_with(&mut outcome, &job.options)?;
    output::diagnostics(&outcome.diagnostics);
    let done = verdict(&outcome.diagnostics, job.deny_warnings);
    if done == Done::Success {
        write(rendered, job.output)?;
    }
    Ok(done)
}

/// The first few hosts by their names.
fn those_there(hosts: &[Converted]) -> String {
    const FEW: usize = 5;
    let names: Vec<&str> = hosts.iter().filter_map(|host| host.host.name.as_deref()).collect();
    match names.get(FEW..) {
        _ if names.is_empty() => "no host here has a name; leave --host out".to_owned(),
        Some([_, ..]) => format!("the sources have {} and others", names[..FEW].join(", ")),
        _ => format!("the sources have {}", names.join(", ")),
    }
}

fn write(rendered: Output, path: Option<&Path>) -> Result<(), Error> {
    match (rendered, path) {
        (Output::Directory(files), Some(directory)) => write::write(directory, &files),
        (Output::Directory(files), None) => {
            let shown =
                |file: &File| [b"# ", file.path().as_bytes(), b"\n", &file.content].concat();
            output::bytes(&files.iter().map(shown).collect::<Vec<_>>().join(&b'\n'))
        }
        (Output::File(content), Some(path)) => write::write_file(path, content),
        (Output::File(content), None) => output::bytes(&content),
    }
}

//! `nmgen generate` and `nmgen gc`.

use std::path::Path;

use super::arguments::{GcArguments, GenerateArguments};
use super::done::{Done, verdict};
use super::streams;
use crate::error::Error;
use crate::output::{Form, Options, Output, one_host};
use crate::source::{self, Hosts};
use crate::write::{self, File};

struct Job<'a> {
    hosts: Hosts,
    form: Form,
    options: Options,
    output: Option<&'a Path>,
    host: Option<&'a str>,
    deny_warnings: bool,
    sources: &'a [String],
}

pub(super) fn run(arguments: &GenerateArguments) -> Result<Done, Error> {
    generate(Job {
        hosts: arguments.options.derived(source::load(&arguments.sources)?),
        form: arguments.to.into(),
        options: arguments.options.options()?,
        output: arguments.output.as_deref(),
        host: arguments.host.as_deref(),
        deny_warnings: arguments.deny_warnings,
        sources: &arguments.sources,
    })
}

pub(super) fn gc(arguments: &GcArguments) -> Result<Done, Error> {
    generate(Job {
        hosts: source::load(std::slice::from_ref(&arguments.source))?,
        form: Form::Gc,
        options: Options::default(),
        output: None,
        host: None,
        deny_warnings: false,
        sources: std::slice::from_ref(&arguments.source),
    })
}

/// Writes everything, or nothing.
fn generate(job: Job<'_>) -> Result<Done, Error> {
    let mut outcome = job.form.convert(job.hosts);
    if let Some(host) = job.host {
        one_host::keep(&mut outcome, host, &job.sources.join(" "));
    }
    let rendered = job.form.render_with(&mut outcome, &job.options)?;
    streams::diagnostics(&outcome.diagnostics);
    let done = verdict(&outcome.diagnostics, job.deny_warnings);
    if done == Done::Success {
        write(rendered, job.output)?;
    }
    Ok(done)
}

fn write(rendered: Output, path: Option<&Path>) -> Result<(), Error> {
    match (rendered, path) {
        (Output::Directory(files), Some(directory)) => write::write(directory, &files),
        (Output::Directory(files), None) => {
            let shown =
                |file: &File| [b"# ", file.path().as_bytes(), b"\n", &file.content].concat();
            streams::bytes(&files.iter().map(shown).collect::<Vec<_>>().join(&b'\n'))
        }
        (Output::Named(file), Some(path)) if is_directory(path) => write::write(path, &[file]),
        (Output::Named(File { content, .. }) | Output::File(content), Some(path)) => {
            write::write_file(path, content)
        }
        (Output::Named(File { content, .. }) | Output::File(content), None) => {
            streams::bytes(&content)
        }
    }
}

/// True for an existing directory, and for a path that ends in a slash.
fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

//! `nmgen generate` and `nmgen gc`.

use std::path::Path;

use super::arguments::{GcArguments, GenerateArguments};
use super::done::{Done, verdict};
use super::streams;
use crate::error::Error;
use crate::output::{Form, Options, Output, one_host};
use crate::source::{self, Hosts};
use crate::write::{self, File, Target};

struct Job<'a> {
    hosts: Hosts,
    form: Form,
    options: Options,
    output: Option<&'a Path>,
    /// A second form, and its file.
    beside: Option<(Form, &'a Path)>,
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
        beside: arguments.options.beside(),
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
        beside: None,
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
    let beside = match job.beside {
        Some((form, path)) => Some((form.render_with(&mut outcome, &job.options)?, path)),
        None => None,
    };
    // Both forms may report the same.
    outcome.diagnostics.dedup();
    streams::diagnostics(&outcome.diagnostics);
    let done = verdict(&outcome.diagnostics, job.deny_warnings);
    if done == Done::Success {
        let beside = beside.map(|(rendered, path)| target(rendered, path)).transpose()?;
        write(rendered, job.output, beside)?;
    }
    Ok(done)
}

fn write(rendered: Output, path: Option<&Path>, beside: Option<Target>) -> Result<(), Error> {
    let Some(path) = path else {
        write::write_all(beside.as_slice())?;
        return streams::bytes(&shown(rendered));
    };
    let targets: Vec<Target> = [target(rendered, path)?].into_iter().chain(beside).collect();
    write::write_all(&targets)
}

fn target(rendered: Output, path: &Path) -> Result<Target, Error> {
    match rendered {
        Output::Directory(files) => Ok(write::below(path, files)),
        Output::Named(file) if is_directory(path) => Ok(write::below(path, vec![file])),
        Output::Named(File { content, .. }) | Output::File(content) => write::at(path, content),
    }
}

/// As one stream.
fn shown(rendered: Output) -> Vec<u8> {
    match rendered {
        Output::Directory(files) => {
            let shown =
                |file: &File| [b"# ", file.path().as_bytes(), b"\n", &file.content].concat();
            files.iter().map(shown).collect::<Vec<_>>().join(&b'\n')
        }
        Output::Named(File { content, .. }) | Output::File(content) => content,
    }
}

/// True for an existing directory, and for a path that ends in a slash.
fn is_directory(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/") || path.is_dir()
}

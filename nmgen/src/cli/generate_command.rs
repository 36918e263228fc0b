//! `nmgen generate` and `nmgen gc`.

use std::path::Path;

use nmgen_core::output;
use nmgen_core::write::{self, File, Target, stream};
use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::error::Error;
use nmgen_fleet::output::{Form, Options, Output, Selection};
use nmgen_fleet::source::{self, Extent, Hosts};

use super::arguments::{GcArguments, GenerateArguments};
use super::done::{Done, verdict};
use super::streams::Streams;
use super::target;

struct Job<'a> {
    hosts: Hosts,
    /// Errors about options, which say nothing of how the sources could be read.
    unknown: Diagnostics,
    form: Form,
    options: Options,
    output: Option<&'a Path>,
    /// A second form, and its file.
    beside: Option<(Form, &'a Path)>,
    selection: Selection<'a>,
    deny_warnings: bool,
}

pub(super) fn run(arguments: &GenerateArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    if arguments.to == Form::Initrd && arguments.output.is_none() && streams.output_is_terminal() {
        streams.refuse("the output is an archive, and standard output a terminal; give -o FILE, or redirect it");
        return Ok(Done::InputWrong);
    }
    let mut hosts = source::load(&arguments.sources)?;
    arguments.gate.judge(&mut hosts);
    let job = Job {
        unknown: arguments.options.verify_hosts(&hosts, &arguments.sources),
        hosts: arguments.options.derived(hosts),
        form: arguments.to,
        options: arguments.options.options()?,
        output: arguments.output.as_deref(),
        beside: arguments.options.beside(),
        selection: arguments.selection.of(&arguments.sources),
        deny_warnings: arguments.gate.deny_warnings,
    };
    generate(job, streams)
}

pub(super) fn gc(arguments: &GcArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let job = Job {
        hosts: source::load_for(std::slice::from_ref(&arguments.source), Extent::Converted)?,
        unknown: Diagnostics::default(),
        form: Form::Gc,
        options: Options::default(),
        output: None,
        beside: None,
        selection: Selection::ALL,
        deny_warnings: false,
    };
    generate(job, streams)
}

/// Writes everything, or nothing.
fn generate(job: Job<'_>, streams: &mut Streams<'_>) -> Result<Done, Error> {
    streams.read(&job.hosts);
    let outcome = job.form.convert_selected(job.hosts, job.selection);
    let (mut beside, mut of_beside) = (None, Diagnostics::default());
    if let Some((form, path)) = job.beside {
        let (rendered, losses) = form.render_one_file(&outcome.hosts, &job.options)?;
        of_beside = losses;
        beside = Some((rendered, path));
    }
    let (rendered, mut losses) = job.form.render(outcome.hosts, &job.options)?;
    losses.extend(of_beside);
    losses.extend(job.unknown);
    let mut diagnostics = outcome.diagnostics;
    diagnostics.merge(losses);
    streams.diagnostics(&diagnostics);
    let done = verdict(&diagnostics, job.deny_warnings);
    if done != Done::Success {
        return Ok(done);
    }
    if let Some(refusal) = job.output.and_then(|path| target::refusal(&rendered, path)) {
        streams.refuse(&refusal);
        return Ok(Done::InputWrong);
    }
    let beside = beside.map(|(rendered, path)| place(rendered, Some(path))).transpose()?;
    write(rendered, job.output, beside, streams)?;
    Ok(done)
}

/// The place of a rendered form.
enum Place<'p> {
    /// Files, which replace those that are there.
    Files(Target),
    /// A device, a FIFO or an open descriptor; `None` for standard output.
    Stream(Option<&'p Path>, Vec<u8>),
}

fn place(rendered: Output, path: Option<&Path>) -> Result<Place<'_>, Error> {
    let Some(path) = path else { return Ok(Place::Stream(None, shown(rendered))) };
    if stream::is_stream(path) {
        let other = Some(path).filter(|path| !stream::is_standard_output(path));
        return Ok(Place::Stream(other, shown(rendered)));
    }
    Ok(Place::Files(match rendered {
        Output::Directory(files) => write::below(path, files),
        Output::Named(file) if target::is_directory(path) => write::below(path, vec![file]),
        Output::Named(File { content, .. }) | Output::File(content) => write::at(path, content)?,
    }))
}

fn write(
    rendered: Output,
    path: Option<&Path>,
    beside: Option<Place<'_>>,
    streams: &mut Streams<'_>,
) -> Result<(), Error> {
    let is_directory = matches!(rendered, Output::Directory(_));
    let first = place(rendered, path)?;
    let is_tree = is_directory && matches!(first, Place::Files(_));
    let (mut targets, mut poured) = (Vec::new(), Vec::new());
    for one in [first].into_iter().chain(beside) {
        match one {
            Place::Files(target) => targets.push(target),
            Place::Stream(path, content) => poured.push((path, content)),
        }
    }
    // A stream takes nothing back, so it comes after all that may fail as a whole.
    write::write_all(&targets)?;
    for (path, content) in poured {
        match path {
            None => streams.bytes(&content)?,
            Some(path) => stream::pour(path, &content)?,
        }
    }
    if let Some(first) = targets.first().filter(|_| is_tree)
        && let Some(note) = target::others(first)?
    {
        streams.note(&note);
    }
    Ok(())
}

/// As one stream.
fn shown(rendered: Output) -> Vec<u8> {
    match rendered {
        Output::Directory(files) => output::shown(&files),
        Output::Named(File { content, .. }) | Output::File(content) => content,
    }
}

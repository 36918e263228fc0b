//! A source of any kind, a file or a tree of files: read, checked, converted to every form, derived, drawn and compared.

use std::fs;
use std::path::Path;

use nmgen::cli::Streams;
use nmgen::output::{Form, Options, Output};
use nmgen::source::{Host, Hosts};
use nmgen::{Converted, Outcome};
use tempfile::TempDir;

use super::{invariants, parts};

const FORMS: [Form; 9] = [
    Form::Gc,
    Form::Hosts,
    Form::Ignition,
    Form::MachineConfig,
    Form::Policy,
    Form::BmhSecret,
    Form::NmStateConfig,
    Form::Kargs,
    Form::Initrd,
];

/// Forms that are sources too, with the documents as they are.
const SOURCES: [Form; 3] = [Form::MachineConfig, Form::BmhSecret, Form::NmStateConfig];

pub(super) fn run(input: &[u8]) {
    let Ok(text) = str::from_utf8(input) else { return };
    let Ok(place) = tempfile::tempdir() else { unreachable!("no temporary directory") };
    let (first, files) = parts::split(text);
    let (path, texts) = match files.as_slice() {
        [] => (write(&place, "worker-0.yaml", first), vec![first]),
        files => {
            // A file where another one needs a directory is left out.
            let written = files
                .iter()
                .map(|(name, text)| (write(&place, &format!("tree/{name}"), text), *text));
            let texts = written.map(|(_, text)| text).collect();
            (place.path().join("tree").display().to_string(), texts)
        }
    };
    let loaded = nmgen::source::load(&[&path]);
    let Ok(hosts) = loaded else { unreachable!("{loaded:?}") };
    invariants::are_inside(&texts, &nmgen::diagnose(&hosts));
    invariants::converts(&hosts);
    invariants::come_back(&hosts);
    for form in FORMS {
        renders(form, &hosts, &texts);
    }
    runs(&["generate", "--br-ex", "--to", "hosts", &path]);
    runs(&["show", "--format", "svg", &path]);
    runs(&["show", "--format", "html", &path]);
    runs(&["diff", &path, &path]);
    runs(&["diff", "--format", "html", &path, "/dev/null"]);
    let findings = runs(&["check", "--format", "sarif", &path]);
    let findings = serde_json::from_slice::<serde_json::Value>(&findings);
    assert!(findings.is_ok_and(|findings| findings["version"] == "2.1.0"));
}

/// A command's standard output.
fn runs(arguments: &[&str]) -> Vec<u8> {
    let (mut output, mut messages) = (Vec::new(), Vec::new());
    let arguments = ["nmgen"].iter().chain(arguments).map(Into::into);
    nmgen::cli::run(arguments, &mut Streams::new(&mut output, &mut messages));
    assert!(messages.is_empty() || messages.ends_with(b"\n"));
    output
}

fn write(place: &TempDir, name: &str, text: &str) -> String {
    let path = place.path().join(name);
    let parent = path.parent().unwrap_or(Path::new("/"));
    let _ = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
    path.display().to_string()
}

/// A form is written, and the documents of a hosts directory convert to the same profiles as before.
fn renders(form: Form, hosts: &Hosts, texts: &[&str]) {
    let options = Options { role: Some("worker".to_owned()), ..Options::default() };
    let mut outcome = form.convert(hosts.clone());
    let rendered = form.render(&outcome.hosts, &options);
    let Ok((output, losses)) = rendered else { unreachable!("{form:?}: {rendered:?}") };
    outcome.diagnostics.merge(losses);
    invariants::are_inside(texts, &outcome.diagnostics);
    if outcome.has_errors() {
        return;
    }
    let contents = match output {
        Output::Directory(files) => files.into_iter().map(|file| file.content).collect(),
        Output::Named(file) => vec![file.content],
        Output::File(content) => vec![content],
    };
    if form == Form::Hosts {
        for content in &contents {
            let text = str::from_utf8(content).unwrap_or_default();
            let source = nmgen::source::Source { name: "again.yml".into(), text: text.into() };
            let again = nmgen::check(&Hosts::document(&source));
            assert!(!again.has_errors(), "{again:?} in {text}");
        }
    }
    if SOURCES.contains(&form) {
        is_read_back(form, &outcome, &contents);
    }
}

/// The hosts of a form that is a source too come back from its files.
fn is_read_back(form: Form, outcome: &Outcome, contents: &[Vec<u8>]) {
    let Ok(place) = tempfile::tempdir() else { unreachable!("no temporary directory") };
    let written = contents.iter().enumerate().map(|(index, content)| {
        write(&place, &format!("{index}.yaml"), str::from_utf8(content).unwrap_or_default())
    });
    let again = nmgen::source::load(&written.collect::<Vec<_>>());
    let Ok(again) = again else { unreachable!("{form:?}: {again:?}") };
    let alone = |host: &Host| invariants::alone(host);
    let again: Vec<Outcome> = again.hosts.iter().map(alone).collect();
    for Converted { host, .. } in &outcome.hosts {
        let ours = alone(host);
        // An empty document is none to a reader, and the document of all nodes is in MachineConfigs alone.
        let is_left_out = host.is_cluster() && form != Form::MachineConfig;
        if is_left_out || host.document_text().is_none_or(|text| text.trim().is_empty()) {
            continue;
        }
        let is_there = again.iter().any(|other| invariants::is_same(&ours, other));
        assert!(is_there, "{form:?}: {host:?} is not among {again:?}");
    }
}

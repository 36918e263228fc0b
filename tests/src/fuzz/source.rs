//! A source of any kind, a file or a tree of files: read, checked, converted to every form, derived, drawn and compared.

use std::fs;
use std::path::Path;

use nmgen::cli::Streams;
use nmgen::output::{Delivery, Form, Options, Output};
use nmgen::source::Hosts;
use tempfile::TempDir;

use super::{invariants, parts};

const FORMS: [Form; 9] = [
    Form::Gc,
    Form::Hosts,
    Form::Delivery(Delivery::Ignition),
    Form::Delivery(Delivery::MachineConfig),
    Form::Delivery(Delivery::Policy),
    Form::Delivery(Delivery::BmhSecret),
    Form::Delivery(Delivery::NmStateConfig),
    Form::Delivery(Delivery::Kargs),
    Form::Delivery(Delivery::Initrd),
];

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
    runs(&["diff", &path, &path]);
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
    let rendered = form.render_with(&mut outcome, &options);
    invariants::are_inside(texts, &outcome.diagnostics);
    let Ok(output) = rendered else { unreachable!("{form:?}: {rendered:?}") };
    if let (Form::Hosts, false, Output::Directory(files)) = (form, outcome.has_errors(), output) {
        for file in files {
            let text = str::from_utf8(&file.content).unwrap_or_default();
            let source = nmgen::source::Source { name: file.path().into(), text: text.into() };
            let again = nmgen::check(&Hosts::document(&source));
            assert!(!again.has_errors(), "{again:?} in {text}");
        }
    }
}

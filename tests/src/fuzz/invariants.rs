//! What holds for every input of nmgen.

use nmgen::diagnostic::Diagnostic;
use nmgen::output::{Form, Output};
use nmgen::profile::Keyfile;
use nmgen::source::{Hosts, Stage};

use crate::keyfile;

/// What check accepts, generate writes; what is written reads back the same; and the same input gives the same output.
pub(super) fn converts(hosts: &Hosts) {
    let checked = nmgen::diagnose(hosts);
    let mut outcome = nmgen::convert(hosts.clone());
    let found = &outcome.diagnostics;
    // A document for the running node may leave to the node what a profile needs: it is written as it is.
    let is_for_node = hosts.hosts.iter().any(|host| host.stage == Stage::Node);
    if is_for_node {
        assert!(found.has_errors() || !checked.has_errors(), "{checked:?} {found:?}");
    } else {
        assert_eq!(checked.has_errors(), found.has_errors(), "{checked:?} {found:?}");
    }
    assert_eq!(outcome, nmgen::convert(hosts.clone()));
    for converted in &outcome.hosts {
        for profile in &converted.configuration.profiles {
            assert!(!profile.id.contains('/'), "{:?}", profile.id);
            reads_back(&profile.keyfile);
        }
    }
    let rendered = Form::Keyfiles.render(&mut outcome);
    assert!(rendered.is_ok(), "{rendered:?}");
    if let (false, Ok(Output::Directory(files))) = (outcome.has_errors(), rendered) {
        let mut paths: Vec<String> = files.iter().map(|file| file.path()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), files.len(), "{paths:?}");
    }
}

/// The suites' own reader gets the keyfile from its text.
fn reads_back(keyfile: &Keyfile) {
    let read = keyfile::parse(&keyfile.render());
    assert_eq!(read.len(), keyfile.sections.len());
    for ((name, entries), section) in read.iter().zip(&keyfile.sections) {
        let entries = entries.iter();
        let values: Vec<(String, String)> =
            entries.map(|(key, value)| (key.clone(), keyfile::unescape(value))).collect();
        assert_eq!((name, &values), (&section.name, &section.entries));
    }
}

/// Every finding is at a place in one of the texts, and the excerpt is that line's.
pub(super) fn are_inside(texts: &[&str], diagnostics: &[Diagnostic]) {
    // YAML 1.2, 5.4: a lone carriage return is a line break too.
    let broken = |text: &&str| text.replace("\r\n", "\n").replace('\r', "\n");
    let texts: Vec<String> = texts.iter().map(broken).collect();
    for diagnostic in diagnostics {
        let Some(at) = &diagnostic.place.position else { continue };
        let (line, column) = (at.start.line as usize, at.start.column as usize);
        let is_in = |text: &String| {
            let line = text.split('\n').nth(line.wrapping_sub(1));
            line.is_some_and(|line| {
                (1..=line.chars().count() + 1).contains(&column) && line.contains(&*at.line)
            })
        };
        assert!(texts.iter().any(is_in), "{diagnostic:?}");
    }
}

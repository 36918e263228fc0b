//! Promises for every input of nmgen.

use nmgen::diagnostic::{Diagnostic, Excerpt};
use nmgen::output::{Form, Options, Output};
use nmgen::profile::{Entry, Keyfile, Profile};
use nmgen::source::{Host, Hosts, Source, Stage};
use nmgen::{Converted, Outcome, Reading};

use crate::keyfile;

/// Hosts that check accepts are written, files read back as they were written, and the same input gives the same output and
/// findings.
pub(super) fn converts(hosts: &Hosts) {
    let checked = nmgen::diagnose(hosts);
    let mut outcome = nmgen::convert(hosts.clone());
    let found = &outcome.diagnostics;
    // A document for the running node may leave to the node what a profile needs: it is written as it is. `check` takes a policy,
    // which only a node resolves, for such a document.
    let is_policy = |host: &Host| {
        host.document_text().is_some_and(|text| {
            let source = Source { name: "policy.yml".into(), text: (*text).into() };
            Reading::parse(&source).is_ok_and(|reading| reading.is_policy())
        })
    };
    let is_for_node = hosts.hosts.iter().any(|host| host.stage == Stage::Node || is_policy(host));
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
    let rendered = Form::Keyfiles.render(&outcome.hosts, &Options::default());
    let Ok((output, losses)) = rendered else { unreachable!("{rendered:?}") };
    outcome.diagnostics.merge(losses);
    if let (false, Output::Directory(files)) = (outcome.has_errors(), output) {
        let mut paths: Vec<String> = files.iter().map(|file| file.path()).collect();
        paths.sort_unstable();
        paths.dedup();
        assert_eq!(paths.len(), files.len(), "{paths:?}");
    }
}

/// Each document makes the same profiles from its text alone, and from the text's place in another file.
pub(super) fn come_back(hosts: &Hosts) {
    for host in &hosts.hosts {
        let Some(text) = host.document_text() else { continue };
        let source = Source { name: "again.yml".into(), text: (*text).into() };
        let (ours, again) = (alone(host), nmgen::convert(Hosts::document(&source)));
        assert!(is_same(&ours, &again), "{again:?} of {text}");
    }
}

/// The conversion of one host without the others.
pub(super) fn alone(host: &Host) -> Outcome {
    nmgen::convert(Hosts { hosts: vec![host.clone()], ..Hosts::default() })
}

/// Whether the second outcome has the profiles and files of the first one.
pub(super) fn is_same(first: &Outcome, second: &Outcome) -> bool {
    first.has_errors() || !second.has_errors() && written(first) == written(second)
}

/// A host's profiles, and its files with their paths.
type Written<'o> = (&'o [Profile], Vec<(&'o str, &'o str)>);

/// Each host's profiles and files, without the places that they come from.
fn written(outcome: &Outcome) -> Vec<Written<'_>> {
    let mut all = Vec::new();
    for Converted { configuration, .. } in &outcome.hosts {
        let files = configuration.files.iter().map(|file| (&*file.path, &*file.content));
        all.push((&*configuration.profiles, files.collect()));
    }
    all
}

/// The suites' own reader gets the keyfile from its text.
fn reads_back(keyfile: &Keyfile) {
    let read = keyfile::parse(&keyfile.render());
    assert_eq!(read.len(), keyfile.sections.len());
    for ((name, entries), section) in read.iter().zip(&keyfile.sections) {
        let entries = entries.iter();
        let values: Vec<Entry> =
            entries.map(|(key, value)| (key.into(), keyfile::unescape(value).into())).collect();
        assert_eq!((name.as_str(), &values), (section.name.as_str(), &section.entries));
    }
}

/// Every finding is at a place in one of the texts, and the excerpt is that line's.
pub(super) fn are_inside(texts: &[&str], diagnostics: &[Diagnostic]) {
    // YAML 1.2, 5.4: a lone carriage return is a line break too.
    let broken = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    // The mark of a file's byte order is on no line.
    let files = texts.iter().filter_map(|text| text.strip_prefix('\u{feff}'));
    let texts: Vec<String> = texts.iter().copied().chain(files).map(broken).collect();
    for diagnostic in diagnostics {
        let Some(at) = &diagnostic.place.position else { continue };
        let is_of = |line: &str| {
            let rest: String = line.chars().skip(at.skipped as usize).collect();
            // A long line is cut.
            let is_whole = rest == *at.line || line.len() > 400 && rest.starts_with(&*at.line);
            is_on(at, line) && (is_whole || has_secrets_hidden(&rest, &at.line))
        };
        let number = at.start.line as usize;
        let is_in = |text: &String| text.split('\n').nth(number.wrapping_sub(1)).is_some_and(is_of);
        assert!(texts.iter().any(is_in), "{diagnostic:?}");
        // Nobody else has the decoded text.
        let decoded = diagnostic.place.decoded.as_ref();
        assert!(decoded.is_none_or(|at| at.skipped > 0 || is_on(at, &at.line)), "{diagnostic:?}");
    }
}

/// Whether the excerpt is the line but for what it hides.
fn has_secrets_hidden(line: &str, shown: &str) -> bool {
    let Some((before, after)) = shown.split_once("<hidden>") else { return false };
    let last = after.rsplit_once("<hidden>").map_or(after, |(_, last)| last);
    line.starts_with(before) && (line.ends_with(last) || line.len() > 400)
}

/// Whether the place is on the line, or right behind it.
fn is_on(at: &Excerpt, line: &str) -> bool {
    let (column, length) = (at.start.column as usize, line.chars().count());
    (1..=length + 1).contains(&column) && at.width >= 1
}

//! nmgen's profiles equal the library's, except for the differences in `nmgen/doc/drop-in.md`.

#![allow(clippy::print_stdout, reason = "a comparison by hand is read")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use nmgen::profile::{Entry, Profile};
use tests::documents::{self, Document};
use tests::keyfile::{self, Sections};
use tests::{program, skip};

/// The differences, by their names in the table.
const ESCAPING: &str = "escaping";
const COPY_MAC_FROM: &str = "copy-mac-from";
const GROUP_ADDRESS: &str = "group-address";
const ROUTING_RULES: &str = "routing-rules";

#[tests::case]
fn profiles_are_the_librarys_but_for_the_table() {
    let mut seen = BTreeSet::new();
    for document in documents::all() {
        compare(&document, &library(&document), &mut seen);
    }
    assert_eq!(seen, table(), "the differences seen, and those in drop-in.md");
}

/// Its description has a backslash, which 2.2.60 does not escape.
const WITH_A_BACKSLASH: &str = "awkward-text.yml";

/// `NMSTATE=2.2.60 cargo test -p tests --test nmgen -- corpus::`. A document with a field that the other version does not know is
/// printed; all others are read alike.
#[tests::case]
fn another_version_of_nmstate_writes_the_same_profiles() {
    let other = program::other_nmstatectl().unwrap_or_else(|| {
        skip::extra("NMSTATE= names another version of nmstate, whose nmstatectl is compared")
    });
    let (mut differences, mut profiles) = (Vec::new(), 0);
    for document in documents::all() {
        let output =
            program::with_input(Command::new(&other).args(["gc", "-"]), &document.text).unwrap();
        let theirs: Result<Files, String> = if output.status.success() {
            let answer: Answer = serde_yaml::from_slice(&output.stdout).unwrap();
            Ok(answer.into_values().next().unwrap_or_default())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        };
        let library = library(&document);
        match &theirs {
            Err(words) if words.contains("unknown field") && library.is_ok() => {
                println!("{}: {words}", document.name);
                continue;
            }
            Err(_) => {}
            Ok(files) => profiles += files.len(),
        }
        let is_alike = theirs.as_ref().ok().map(settings) == library.as_ref().ok().map(settings);
        if !is_alike && document.name != WITH_A_BACKSLASH {
            differences.push(format!("{}: {theirs:#?}\nagainst {library:#?}", document.name));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(profiles > 50, "{profiles} profiles");
}

#[tests::case]
fn the_same_document_gives_the_same_bytes() {
    for document in documents::all() {
        let first = document.convert();
        for _ in 0..20 {
            let again = document.convert();
            assert_eq!(texts(&again), texts(&first), "{}", document.name);
            assert_eq!(again.diagnostics, first.diagnostics, "{}", document.name);
        }
    }
}

/// The lines of each file in one order, without blanks at their ends and between them, which 2.2.60 writes otherwise, and without
/// rules, which each version writes at random.
fn settings(files: &Files) -> Vec<(&str, Vec<&str>)> {
    fn of((name, text): &(String, String)) -> (&str, Vec<&str>) {
        let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.retain(|line| !line.is_empty() && !line.starts_with("routing-rule"));
        lines.sort_unstable();
        (name.as_str(), lines)
    }
    files.iter().map(of).collect()
}

/// The first column of the table.
fn table() -> BTreeSet<String> {
    let path = tests::program::root().join("nmgen/doc/drop-in.md");
    let text = std::fs::read_to_string(path).unwrap();
    let section = tests::guide::section(&text, "Differences from the library");
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, _)| name.to_owned()).collect()
}

fn texts(outcome: &nmgen::Outcome) -> Vec<(String, String)> {
    let profiles = outcome.hosts.iter().flat_map(|host| &host.configuration.profiles);
    profiles.map(|profile| (profile.file_name(), profile.keyfile.render())).collect()
}

/// File names and texts.
type Files = Vec<(String, String)>;
type Answer = BTreeMap<String, Files>;

/// The library's files, or the words of its refusal.
fn library(document: &Document) -> Result<Files, String> {
    let state: nmstate::NetworkState = serde_yaml::from_str(&document.text).unwrap();
    let files = state.gen_conf().map_err(|error| error.msg().to_owned())?;
    Ok(files.into_iter().find(|(name, _)| name == "NetworkManager").unwrap_or_default().1)
}

fn compare(document: &Document, library: &Result<Files, String>, seen: &mut BTreeSet<String>) {
    let library = match library {
        Ok(files) => files,
        Err(error) => {
            // The only document that the library refuses and nmgen converts.
            assert!(error.contains("Failed to find mac address"), "{error}");
            seen.insert(COPY_MAC_FROM.to_owned());
            return;
        }
    };
    let outcome = document.convert();
    let ours = &outcome.hosts[0].configuration.profiles;
    let names = |files: Vec<&str>| files.join(" ");
    let our_names: Vec<String> = ours.iter().map(Profile::file_name).collect();
    assert_eq!(
        names(our_names.iter().map(String::as_str).collect()),
        names(library.iter().map(|(name, _)| name.as_str()).collect()),
        "{}: files",
        document.name
    );
    for (profile, (name, text)) in ours.iter().zip(library) {
        let at = format!("{}: {name}", document.name);
        let rendered = profile.keyfile.render();
        let written = keyfile::parse(&rendered);
        if rendered == *text {
            continue;
        }
        let mut theirs = keyfile::parse(text);
        // The file, read back, must equal nmgen's profile.
        assert_eq!(unescaped(&written), sections(profile), "{at}: escaped wrongly");
        if sections(profile) != written {
            seen.insert(ESCAPING.to_owned());
        }
        let mut ours = sections(profile);
        accept_copied_mac(document, &mut ours, &mut theirs, seen);
        accept_group_address(&ours, &mut theirs, seen);
        accept_routing_rules(&mut ours, &mut theirs);
        assert_eq!(ours, theirs, "{at}");
    }
    if assert_same_rules(ours, library, &document.name) > 1 {
        seen.insert(ROUTING_RULES.to_owned());
    }
}

fn sections(profile: &Profile) -> Sections {
    let entry = |(key, value): &Entry| (key.to_string(), value.to_string());
    let sections = profile.keyfile.sections.iter();
    sections
        .map(|section| (section.name.to_string(), section.entries.iter().map(entry).collect()))
        .collect()
}

fn unescaped(sections: &Sections) -> Sections {
    let mut sections = sections.clone();
    for (_, value) in sections.iter_mut().flat_map(|(_, entries)| entries) {
        *value = keyfile::unescape(value);
    }
    sections
}

fn value<'s>(sections: &'s Sections, section: &str, key: &str) -> Option<&'s str> {
    let (_, entries) = sections.iter().find(|(name, _)| name == section)?;
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
}

fn take(sections: &mut Sections, section: &str, key: &str) -> Option<String> {
    let (_, entries) = sections.iter_mut().find(|(name, _)| name == section)?;
    let index = entries.iter().position(|(name, _)| name == key)?;
    let (_, value) = entries.remove(index);
    sections.retain(|(name, entries)| name != section || !entries.is_empty());
    Some(value)
}

/// An ovs-interface for which the library omits the MAC address that its bridge copies.
fn accept_copied_mac(
    document: &Document,
    ours: &mut Sections,
    theirs: &mut Sections,
    seen: &mut BTreeSet<String>,
) {
    let key = ("ethernet", "cloned-mac-address");
    let is_ours = value(ours, "connection", "type") == Some("ovs-interface")
        && document.text.contains("copy-mac-from")
        && value(theirs, key.0, key.1).is_none();
    if is_ours && take(ours, key.0, key.1).is_some() {
        theirs.retain(|(name, entries)| name != key.0 || !entries.is_empty());
        seen.insert(COPY_MAC_FROM.to_owned());
    }
}

/// Bytes as decimal numbers against the same bytes as a MAC address.
fn accept_group_address(ours: &Sections, theirs: &mut Sections, seen: &mut BTreeSet<String>) {
    let Some(address) = value(ours, "bridge", "group-address").map(str::to_owned) else { return };
    let bytes: Vec<String> =
        address.split(':').map(|byte| u8::from_str_radix(byte, 16).unwrap().to_string()).collect();
    let entries = theirs.iter_mut().flat_map(|(_, entries)| entries);
    for (_, value) in
        entries.filter(|(key, value)| key == "group-address" && *value == bytes.join(";"))
    {
        value.clone_from(&address);
        seen.insert(GROUP_ADDRESS.to_owned());
    }
}

/// The library assigns and orders rules at random, so the two may happen to be equal.
fn accept_routing_rules(ours: &mut Sections, theirs: &mut Sections) {
    for (_, entries) in ours.iter_mut().chain(theirs) {
        entries.retain(|(key, _)| !key.starts_with("routing-rule"));
    }
}

/// The library may lose some at random; nmgen must have all the others. Returns nmgen's count.
fn assert_same_rules(ours: &[Profile], library: &[(String, String)], at: &str) -> usize {
    let is_rule = |(key, _): &(String, String)| key.starts_with("routing-rule");
    let rules = |files: Vec<Sections>| -> Vec<String> {
        let entries = files.into_iter().flatten().flat_map(|(_, entries)| entries);
        let mut rules: Vec<String> = entries.filter(is_rule).map(|(_, value)| value).collect();
        rules.sort();
        rules
    };
    let theirs = rules(library.iter().map(|(_, text)| keyfile::parse(text)).collect());
    let ours = rules(ours.iter().map(sections).collect());
    assert!(theirs.iter().all(|rule| ours.contains(rule)), "{at}: {theirs:?} against {ours:?}");
    ours.len()
}

//! NMState documents for the suites: the project's fixtures, and other projects' documents where a variable names them.

use std::path::{Path, PathBuf};

use crate::program::root;

/// A document and its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The file's name, without directories.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// The project's own documents; nmstate converts every one of them.
pub fn fixtures() -> Vec<Document> {
    let found = documents_in(&root().join("tests/fixtures/states"));
    assert!(!found.is_empty(), "tests/fixtures/states has no documents");
    found
}

/// Fixtures, and the documents of others that `$CORPUS` names: an extra that no assertion needs.
pub fn all() -> Vec<Document> {
    let mut documents = fixtures();
    documents.extend(corpus());
    documents
}

/// Other projects' documents: the files `*.yml` of the directory `$CORPUS/nmstate-examples`; none without that variable.
pub fn corpus() -> Vec<Document> {
    corpus_directory()
        .map(|corpus| documents_in(&corpus.join("nmstate-examples")))
        .unwrap_or_default()
}

/// Other projects' policies: `$CORPUS/nmstate-policy/NAME/policy.yml`; none without that variable.
pub fn policies() -> Vec<Document> {
    let entries = corpus_directory().map(|corpus| std::fs::read_dir(corpus.join("nmstate-policy")));
    let Some(Ok(entries)) = entries else { return Vec::new() };
    let read = |path: PathBuf| {
        let name = path.file_name()?.to_str()?.to_owned();
        Some(Document { name, text: std::fs::read_to_string(path.join("policy.yml")).ok()? })
    };
    let mut found: Vec<_> = entries.filter_map(|entry| read(entry.ok()?.path())).collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The documents of a file, each behind a line `--- # NAME`.
#[must_use]
pub fn named_in(text: &str) -> Vec<Document> {
    text.split("\n--- # ")
        .skip(1)
        .filter_map(|document| document.split_once('\n'))
        .map(|(name, text)| Document { name: name.to_owned(), text: text.to_owned() })
        .collect()
}

/// Whether it is a NetworkPolicy.
#[must_use]
pub fn is_policy(text: &str) -> bool {
    text.lines().any(|line| line == "capture:" || line == "desiredState:")
}

fn corpus_directory() -> Option<PathBuf> {
    std::env::var_os("CORPUS").map(PathBuf::from)
}

fn documents_in(directory: &Path) -> Vec<Document> {
    let Ok(entries) = std::fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<Document> = entries
        .filter_map(|entry| {
            let path = entry.ok()?.path();
            let name = path.file_name()?.to_str()?.to_owned();
            let text = std::fs::read_to_string(&path).ok()?;
            name.ends_with(".yml").then_some(Document { name, text })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

impl Document {
    /// Converts it with the library, in this process.
    pub fn convert(&self) -> nmgen::Outcome {
        convert(&self.name, &self.text)
    }
}

/// Converts one document with the library, in this process.
pub fn convert(name: &str, text: &str) -> nmgen::Outcome {
    let source = nmgen::source::Source { name: name.into(), text: text.into() };
    nmgen::convert(nmgen::source::Hosts::document(&source))
}

/// The keyfiles and other files, each with its text.
pub fn files(outcome: &nmgen::Outcome) -> Vec<(nmgen::output::File, String)> {
    use nmgen::output::{Form, Options, Output};
    let rendered = Form::Keyfiles.render(&outcome.hosts, &Options::default());
    let Ok((Output::Directory(files), _)) = rendered else { return Vec::new() };
    let text = |content: &[u8]| String::from_utf8_lossy(content).into_owned();
    files.into_iter().map(|file| (file.clone(), text(&file.content))).collect()
}

/// Makes a document with this number of interfaces.
pub type Large = fn(usize) -> String;

/// Large documents of each shape: interfaces alone, in one chain, below one controller, and only named by one.
pub const LARGE: [(&str, Large); 5] = [
    ("alone", alone),
    ("refused", refused),
    ("chain", chain),
    ("ports", ports),
    ("named ports", named_ports),
];

fn alone(count: usize) -> String {
    let interface = |number| format!("- {{name: d{number}, type: dummy, state: up}}\n");
    listed((0..count).map(interface))
}

/// Features that no card has: nmstate refuses each interface by itself, for a reason that only a node knows.
fn refused(count: usize) -> String {
    let interface = |number| {
        format!(
            "- {{name: e{number}, type: ethernet, state: up, ethtool: {{feature: {{a: true, b: true}}}}}}\n"
        )
    };
    listed((0..count).map(interface))
}

fn chain(count: usize) -> String {
    let vlan = |number: usize| {
        let base = number - 1;
        format!(
            "- {{name: v{number}, type: vlan, state: up, vlan: {{id: 5, base-iface: v{base}}}}}\n"
        )
    };
    let card = "- {name: v0, type: ethernet, state: up}\n".to_owned();
    listed(std::iter::once(card).chain((1..count).map(vlan)))
}

fn ports(count: usize) -> String {
    let names: Vec<String> = (1..count).map(|number| format!("e{number}")).collect();
    let port = |name: &String| format!("- {{name: {name}, type: ethernet, state: up}}\n");
    let (ports, list) = (names.iter().map(port), names.join(", "));
    let bond = format!(
        "- {{name: b0, type: bond, state: up, link-aggregation: {{mode: active-backup, port: [{list}]}}}}\n"
    );
    listed(std::iter::once(bond).chain(ports))
}

fn named_ports(count: usize) -> String {
    let ports: String = (1..count).map(|number| format!("{{name: e{number}}}, ")).collect();
    format!(
        "interfaces:\n- {{name: b0, type: ovs-bridge, state: up, bridge: {{port: [{ports}]}}}}\n"
    )
}

fn listed(interfaces: impl Iterator<Item = String>) -> String {
    std::iter::once("interfaces:\n".to_owned()).chain(interfaces).collect()
}

//! Inputs by kind: each row has files, and all that `check` tells of them, with the lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_yaml::Value as Yaml;
use tests::program::{self, Exits as _};

struct Row {
    what: String,
    arguments: Vec<String>,
    /// By their path; the directory of one in a directory is the source.
    files: BTreeMap<String, String>,
    /// The rule, and a part of the line that it is told of.
    told: Vec<[String; 2]>,
}

fn text(value: &Yaml) -> String {
    value.as_str().unwrap().to_owned()
}

impl Row {
    fn read(row: &Yaml) -> Self {
        let list =
            |key: &str| row.get(key).and_then(Yaml::as_sequence).cloned().unwrap_or_default();
        let files = row["files"].as_mapping().unwrap();
        Self {
            what: text(&row["what"]),
            arguments: list("arguments").iter().map(text).collect(),
            files: files.iter().map(|(path, content)| (text(path), text(content))).collect(),
            told: list("told").iter().map(|told| [text(&told[0]), text(&told[1])]).collect(),
        }
    }

    /// The fault of the row; `None` if all is as it should be.
    fn fault(&self) -> Option<String> {
        let directory = tempfile::tempdir().unwrap();
        let mut sources = Vec::new();
        for (path, text) in &self.files {
            let file = directory.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
            let source = directory.path().join(Path::new(path).iter().next().unwrap());
            if !sources.contains(&source) {
                sources.push(source);
            }
        }
        let mut command = Command::new(program::nmgen());
        command.args(["check", "--format", "json"]).args(&self.arguments).args(&sources);
        let value = command.output().unwrap().json();
        let found: Vec<(String, String)> = value["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| !LEFT_OUT.contains(&finding["rule"].as_str().unwrap()))
            .map(|finding| {
                let text =
                    fs::read_to_string(finding["file"].as_str().unwrap()).unwrap_or_default();
                let line = finding["line"].as_u64().map_or(0, |line| line as usize);
                let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
                (finding["rule"].as_str().unwrap().to_owned(), line.to_owned())
            })
            .collect();
        let mut rest: Vec<&[String; 2]> = self.told.iter().collect();
        let is_told = |(rule, line): &&(String, String), rest: &mut Vec<&[String; 2]>| {
            let at = rest.iter().position(|[own, part]| own == rule && line.contains(part));
            at.map(|at| rest.remove(at)).is_some()
        };
        let surplus: Vec<_> = found.iter().filter(|finding| !is_told(finding, &mut rest)).collect();
        (!surplus.is_empty() || !rest.is_empty())
            .then(|| format!("{}: too much: {surplus:?}; missing: {rest:?}", self.what))
    }
}

/// A document that is no node's own bridge is told of that in each row.
const LEFT_OUT: [&str; 1] = ["bridge-missing"];

fn faults(table: &str) -> Vec<String> {
    let file = program::root().join("tests/fixtures/kinds").join(table);
    let table: Yaml = serde_yaml::from_str(&fs::read_to_string(file).unwrap()).unwrap();
    let rows = table["rows"].as_sequence().unwrap();
    assert!(rows.len() > 10);
    rows.iter().map(Row::read).filter_map(|row| row.fault()).collect()
}

#[tests::case]
fn what_no_consumer_reads_is_told() {
    assert_eq!(faults("consumers.yml"), Vec::<String>::new());
}

#[tests::case]
fn what_nmstate_drops_or_refuses_on_a_node_is_told() {
    assert_eq!(faults("documents.yml"), Vec::<String>::new());
}

#[tests::case]
fn files_of_other_formats_are_read_or_named() {
    assert_eq!(faults("formats.yml"), Vec::<String>::new());
}

#[tests::case]
fn what_stands_in_the_wrong_part_of_its_container_is_told_there() {
    assert_eq!(faults("places.yml"), Vec::<String>::new());
}

#[tests::case]
fn mistakes_are_told_at_their_place() {
    assert_eq!(faults("mistakes.yml"), Vec::<String>::new());
}

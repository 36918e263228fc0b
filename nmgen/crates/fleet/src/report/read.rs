//! Accounts of nodes from files, directories such as a must-gather, and a stream.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use flate2::read::GzDecoder;
use nmgen_core::source::bounded;
use nmgen_document::error::Error;
use nmgen_document::format::cut;
use nmgen_document::size::MAX_HOSTS;
use serde_json::Deserializer;

use super::node::{Account, Node};
use crate::parallel;

/// The largest file, and what it may unpack to.
const LIMIT: usize = 64 << 20;

const STREAM: usize = 1 << 30;

/// The longest reason in bytes: a parser's may quote the file.
const REASON: usize = 400;

/// How deep a must-gather is.
const DEPTH: usize = 12;

/// A file that is no account of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// The file.
    pub file: String,
    /// Why not.
    pub why: String,
}

/// Accounts of nodes, by name.
#[derive(Debug, Default)]
pub struct Nodes {
    /// The newest of each node; each name is one node's.
    pub nodes: Vec<Node>,
    /// Files that the caller named, or that look like an account, and are none.
    pub unread: Vec<Unread>,
    /// Other programs' files in a directory.
    pub skipped: usize,
}

/// Reads all sources: files, directories with everything below, `-` for standard input. More than [`MAX_HOSTS`] accounts are none.
///
/// # Errors
/// A directory that cannot be listed, or a source that is not there.
pub fn read(sources: &[String]) -> Result<Nodes, Error> {
    let mut files = Vec::new();
    let mut found = Nodes::default();
    let count = Count::default();
    for source in sources {
        let failed = |error| Error::ReadFile { path: source.clone(), source: error };
        if source == "-" {
            let bytes = bounded::read_from(io::stdin().lock(), STREAM).map_err(failed)?;
            let text = unpacked(bytes).map_err(failed)?;
            found.take(accounts(&text, "standard input", "node", &count), true);
        } else if fs::metadata(source).map_err(failed)?.is_dir() {
            list(Path::new(source), DEPTH, &mut files)?;
        } else {
            files.push((PathBuf::from(source), true));
        }
    }
    let all = parallel::each(&files, |(path, is_named)| (of_file(path, &count), *is_named));
    for (accounts, is_named) in all {
        found.take(accounts, is_named);
    }
    if count.is_over() {
        let why = format!("more than {MAX_HOSTS} accounts of nodes");
        return Ok(Nodes {
            unread: vec![Unread { file: sources.join(" "), why }],
            ..Nodes::default()
        });
    }
    found.nodes = named_apart(newest(found.nodes));
    Ok(found)
}

/// The accounts in all files so far.
#[derive(Default)]
struct Count(AtomicUsize);

impl Count {
    /// Whether there is room for one more.
    fn add(&self) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) < MAX_HOSTS
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MAX_HOSTS
    }
}

impl Nodes {
    fn take(&mut self, accounts: Accounts, is_named: bool) {
        let Accounts { nodes, why, file } = accounts;
        match why {
            Some(why) if is_named || !nodes.is_empty() => self.unread.push(Unread { file, why }),
            Some(_) => self.skipped += 1,
            None => {}
        }
        self.nodes.extend(nodes);
    }
}

/// The accounts of one file, and why there are no more.
struct Accounts {
    file: String,
    nodes: Vec<Node>,
    why: Option<String>,
}

fn of_file(path: &Path, count: &Count) -> Accounts {
    let file = path.display().to_string();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.trim_end_matches(".gz").trim_end_matches(".json");
    match bounded::read(path, LIMIT).and_then(unpacked) {
        Ok(bytes) => accounts(&bytes, &file, name, count),
        Err(error) => Accounts { file, nodes: Vec::new(), why: Some(error.to_string()) },
    }
}

fn unpacked(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    bounded::read_from(GzDecoder::new(bytes.as_slice()), LIMIT)
}

/// One object or several, as lines or not.
fn accounts(bytes: &[u8], file: &str, name: &str, count: &Count) -> Accounts {
    let mut found = Accounts { file: file.to_owned(), nodes: Vec::new(), why: None };
    for account in Deserializer::from_slice(bytes).into_iter::<Account>() {
        match account.map(|account| account.node(file, name)) {
            Ok(Some(node)) if count.add() => found.nodes.push(node),
            Ok(Some(_)) => break,
            Ok(None) => found.why = Some("it is no account of a node".to_owned()),
            Err(error) => found.why = Some(cut(&error.to_string(), REASON).to_owned()),
        }
    }
    if found.nodes.is_empty() && found.why.is_none() {
        found.why = Some("it is empty".to_owned());
    }
    found
}

/// Files that may be accounts; links are not followed.
fn list(directory: &Path, depth: usize, files: &mut Vec<(PathBuf, bool)>) -> Result<(), Error> {
    let failed = |source| Error::ReadDirectory { path: directory.display().to_string(), source };
    let mut entries = fs::read_dir(directory)
        .and_then(|all| all.collect::<io::Result<Vec<_>>>())
        .map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let kind = entry.file_type().map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_dir() && depth > 0 {
            list(&path, depth - 1, files)?;
        } else if kind.is_file() && (name.ends_with(".json") || name.ends_with(".json.gz")) {
            files.push((path, false));
        }
    }
    Ok(())
}

/// The newest account of each node, by name. Accounts of one name are one node's where they are in one directory and tell when they
/// were collected: two clusters have the same names, and an account may have none.
fn newest(nodes: Vec<Node>) -> Vec<Node> {
    let mut found: Vec<Node> = Vec::with_capacity(nodes.len());
    let mut places: BTreeMap<(String, PathBuf), usize> = BTreeMap::new();
    for node in nodes {
        let directory = Path::new(&node.file).parent().unwrap_or(Path::new("")).to_path_buf();
        let key = (node.name.clone(), directory);
        match places.get(&key).filter(|_| node.collected.is_some()) {
            Some(&place) if found[place].collected > node.collected => {}
            Some(&place) => found[place] = node,
            None => {
                if node.collected.is_some() {
                    places.insert(key, found.len());
                }
                found.push(node);
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The nodes, of which those that share a name have their file in it, and a number where they share that too.
fn named_apart(mut nodes: Vec<Node>) -> Vec<Node> {
    let key = |node: &Node| (node.name.clone(), node.file.clone());
    let (mut names, mut files) = (BTreeMap::new(), BTreeMap::new());
    for node in &nodes {
        *names.entry(node.name.clone()).or_insert(0_usize) += 1;
        *files.entry(key(node)).or_insert(0_usize) += 1;
    }
    let mut numbers: BTreeMap<(String, String), usize> = BTreeMap::new();
    for node in
        nodes.iter_mut().filter(|node| names.get(&node.name).is_some_and(|count| *count > 1))
    {
        let key = key(node);
        let number = numbers.entry(key.clone()).or_insert(0);
        *number += 1;
        node.name = match files.get(&key) {
            Some(1) | None => format!("{} ({})", node.name, node.file),
            Some(_) => format!("{} ({}, {number})", node.name, node.file),
        };
    }
    nodes
}

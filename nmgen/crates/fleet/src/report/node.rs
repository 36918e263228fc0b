//! A node's account, in any of its forms.

use nmgen_document::format::{cut, printable};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Node {
    /// Its host name; of an account without one the file's name.
    pub name: String,
    /// The file.
    pub file: String,
    /// The pool of machines that it is in, as far as it tells.
    pub role: Option<String>,
    /// The first words of `dayone status`; `UNREADABLE` for a node that could not tell.
    pub verdict: String,
    /// Its reason in one word.
    pub reason: Option<String>,
    /// The cause in a sentence; empty where there is none.
    pub why: String,
    /// The document's path on the node.
    pub document: Option<String>,
    /// SHA-256 of its bytes.
    pub digest: Option<String>,
    /// Whether a changed document waits for the next boot.
    pub pending: bool,
    /// Seconds since 1970, of a collected node.
    pub collected: Option<u64>,
    /// The agent's version.
    pub version: Option<String>,
}

/// The longest word of a node, such as its name, in bytes; and the longest sentence or path.
const WORD: usize = 256;
const SENTENCE: usize = 4096;

/// Documents of several nodes.
const SHARED: &str = "cluster.yml";

impl Node {
    /// Whether nobody has to look: the exit code of `dayone status` is 0. A word that a newer agent has is never good.
    pub fn is_good(&self) -> bool {
        match &*self.verdict {
            "IN FORCE" => {
                let harmless = ["change-adopted", "family-missing", "other-nodes-documents"];
                self.reason.as_deref().is_none_or(|reason| harmless.contains(&reason))
            }
            "NO DOCUMENT" | "HEALTHY" => true,
            _ => false,
        }
    }

    /// With texts of a line each, and of a length that a fleet's memory and a reader's screen have room for.
    fn within_bounds(self) -> Self {
        let word = |text: String| kept(&text, WORD);
        let sentence = |text: String| kept(&text, SENTENCE);
        Self {
            name: word(self.name),
            file: printable(&self.file),
            role: self.role.map(word),
            verdict: word(self.verdict),
            reason: self.reason.map(word),
            why: sentence(self.why),
            document: self.document.map(sentence),
            digest: self.digest.map(word),
            pending: self.pending,
            collected: self.collected,
            version: self.version.map(word),
        }
    }

    /// Whether its document is that of several nodes.
    pub(super) fn is_shared(&self) -> bool {
        self.document.as_deref().is_some_and(|document| document.rsplit('/').next() == Some(SHARED))
    }

    /// The document's path, which is one for all hosts' own files.
    pub(super) fn shown_document(&self) -> Option<String> {
        let document = self.document.as_deref()?;
        if self.is_shared() {
            return Some(document.to_owned());
        }
        let directory = document.rsplit_once('/').map_or("", |(directory, _)| directory);
        Some(format!("{directory}/HOST.yml"))
    }
}

fn kept(text: &str, bytes: usize) -> String {
    let text = printable(text);
    if text.len() <= bytes { text } else { format!("{}…", cut(&text, bytes)) }
}

/// An answer of a source, as the agent collects it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told<T> {
    Value(T),
    Error(String),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Versions {
    dayone: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Trial {
    reason: Option<String>,
}

/// The fields of all three forms; any of them may be of another program's JSON.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub(super) struct Account {
    hostname: Option<String>,
    // A collected node has these.
    collected: Option<u64>,
    role: Option<String>,
    versions: Option<Versions>,
    status: Option<Told<Box<Self>>>,
    facts: Option<IgnoredAny>,
    // A status has these, and some a node's health.
    verdict: Option<String>,
    verdict_reason: Option<String>,
    outcome: Option<IgnoredAny>,
    document: Option<String>,
    digest: Option<String>,
    pending: Option<String>,
    error: Option<String>,
    refused: Option<String>,
    silent: Option<String>,
    down: Option<String>,
    drift: Vec<String>,
    drift_unknown: Option<String>,
    saved: Vec<String>,
    units: Vec<String>,
    removed: Option<String>,
    trial: Option<Trial>,
    // Both have this.
    why: Option<String>,
    // A node's health has these.
    failed: Option<bool>,
    reason: Option<String>,
    looked: Option<IgnoredAny>,
}

impl Account {
    /// The node; `None` for another program's JSON. `name` is the file's.
    pub(super) fn node(self, file: &str, name: &str) -> Option<Node> {
        self.told(file, name).map(Node::within_bounds)
    }

    fn told(self, file: &str, name: &str) -> Option<Node> {
        let file = file.to_owned();
        if self.facts.is_some() && self.collected.is_some() {
            let own = Node {
                name: self
                    .hostname
                    .filter(|hostname| !hostname.is_empty())
                    .unwrap_or_else(|| name.to_owned()),
                role: self.role,
                collected: self.collected,
                version: self.versions.and_then(|version| version.dayone),
                file,
                ..Node::default()
            };
            return Some(match self.status? {
                Told::Error(why) => Node { verdict: "UNREADABLE".to_owned(), why, ..own },
                Told::Value(status) => {
                    let Node { name, file, role, collected, version, .. } = own;
                    let told = status.status(&file, &name)?;
                    Node { name, role, collected, version, ..told }
                }
            });
        }
        if self.looked.is_some() && self.failed.is_some() {
            return self.health(file, name);
        }
        self.status(&file, name)
    }

    fn status(self, file: &str, name: &str) -> Option<Node> {
        self.outcome?;
        let verdict = self.verdict?;
        let listed = |parts: Vec<String>| (!parts.is_empty()).then(|| parts.join(", "));
        // A removed document explains no failure of the bridge that takes its place.
        let is_gone = self.verdict_reason.as_deref() == Some("document-gone");
        let removed = self.removed.filter(|_| is_gone);
        let removed = removed.map(|path| format!("{path} is no longer this node's"));
        let trial = self.trial.and_then(|trial| trial.reason).filter(|_| verdict == "TRIAL");
        // A status of 0.2.0 has no sentence; its causes that explain others come first.
        let causes = [
            self.why.filter(|why| !why.is_empty()),
            trial,
            removed,
            self.refused,
            self.down,
            self.silent,
            self.error,
            self.drift_unknown,
            listed(self.drift),
            listed(self.saved),
            listed(self.units),
        ];
        Some(Node {
            name: self.hostname.unwrap_or_else(|| name.to_owned()),
            file: file.to_owned(),
            pending: self.pending.is_some() && matches!(&*verdict, "PENDING" | "REFUSED"),
            verdict,
            reason: self.verdict_reason,
            why: causes.into_iter().flatten().next().unwrap_or_default(),
            document: self.document,
            digest: self.digest,
            ..Node::default()
        })
    }

    fn health(self, file: String, name: &str) -> Option<Node> {
        let is_failed = self.failed?;
        let verdict = self.verdict?;
        Some(Node {
            name: self.hostname.unwrap_or_else(|| name.to_owned()),
            file,
            pending: verdict == "PENDING",
            // A state that is bad only after a while is no failure yet.
            verdict: if is_failed { verdict } else { "HEALTHY".to_owned() },
            reason: self.reason.filter(|_| is_failed),
            why: self.why.unwrap_or_default(),
            document: self.document,
            digest: self.digest,
            ..Node::default()
        })
    }
}

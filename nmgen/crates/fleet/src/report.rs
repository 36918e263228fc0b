//! Many nodes' accounts of themselves: outcomes, groups of like failures, nodes that are late, documents of each role. An account
//! is a file of `dayone collect`, `dayone status --json` or `dayone health --format json`.

mod failure_words;
mod node;
mod read;

use std::collections::{BTreeMap, HashMap};

use nmgen_document::format::counted;
use nmgen_document::text::secret::TOKEN;

pub use self::node::Node;
pub use self::read::{Nodes, Unread, read};

/// Nodes with the same outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutcomeGroup {
    /// The first words of `dayone status`.
    pub verdict: String,
    /// Its reason in one word.
    pub reason: Option<String>,
    /// Whether nobody has to look.
    pub good: bool,
    /// Their places in the list of nodes.
    pub nodes: Vec<usize>,
}

/// Failures with the same words but for names, addresses and numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The words, with `…` for what differs between nodes.
    pub words: String,
    /// The nodes.
    pub nodes: Vec<usize>,
}

/// A node that has not arrived where the others of its role are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Late {
    /// The node.
    pub node: usize,
    /// How it is late, in words.
    pub why: String,
}

/// Nodes of a role with the same bytes of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedDocument {
    /// The role, where the nodes tell it.
    pub role: Option<String>,
    /// The path on the node; that of a host's own file is one for all: `HOST.yml`.
    pub document: String,
    /// SHA-256, of a document of several nodes.
    pub digest: Option<String>,
    /// The nodes.
    pub nodes: Vec<usize>,
}

/// The account of a fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// By number of nodes, those that somebody has to look at first.
    pub outcomes: Vec<OutcomeGroup>,
    /// The largest first.
    pub groups: Vec<Group>,
    /// In the order of the nodes.
    pub late: Vec<Late>,
    /// By role and path, the most common digest first.
    pub documents: Vec<SharedDocument>,
}

impl Report {
    /// The account of these nodes.
    pub fn of(nodes: &[Node]) -> Self {
        let documents = documents(nodes);
        Self {
            outcomes: outcomes(nodes),
            groups: groups(nodes),
            late: late(nodes, &documents),
            documents,
        }
    }

    /// Whether nobody has to look.
    pub fn is_good(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.good)
    }
}

/// The nodes by a key, in the order of the keys.
fn by<K: Ord>(nodes: &[Node], key: impl Fn(&Node) -> Option<K>) -> Vec<(K, Vec<usize>)> {
    let mut found: BTreeMap<K, Vec<usize>> = BTreeMap::new();
    for (index, node) in nodes.iter().enumerate() {
        if let Some(key) = key(node) {
            found.entry(key).or_default().push(index);
        }
    }
    found.into_iter().collect()
}

fn outcomes(nodes: &[Node]) -> Vec<OutcomeGroup> {
    let key = |node: &Node| Some((node.is_good(), node.verdict.clone(), node.reason.clone()));
    let one = |((good, verdict, reason), nodes)| OutcomeGroup { verdict, reason, good, nodes };
    let mut found: Vec<OutcomeGroup> = by(nodes, key).into_iter().map(one).collect();
    found.sort_by_key(|group| (group.good, std::cmp::Reverse(group.nodes.len())));
    found
}

fn groups(nodes: &[Node]) -> Vec<Group> {
    let words =
        |node: &Node| (!node.is_good()).then(|| failure_words::words(&node.why, &node.name));
    let found = by(nodes, words).into_iter().filter(|(words, _)| !words.is_empty());
    let mut found: Vec<Group> = found.map(|(words, nodes)| Group { words, nodes }).collect();
    found.sort_by_key(|group| std::cmp::Reverse(group.nodes.len()));
    found
}

fn documents(nodes: &[Node]) -> Vec<SharedDocument> {
    let key = |node: &Node| {
        let document = node.shown_document()?;
        // A token compares within its node's file alone.
        let digest = node.digest.clone().filter(|of| node.is_shared() && !of.starts_with(TOKEN));
        Some((node.role.clone(), document, digest))
    };
    let one = |((role, document, digest), nodes)| SharedDocument { role, document, digest, nodes };
    let mut found: Vec<SharedDocument> = by(nodes, key).into_iter().map(one).collect();
    found.sort_by(|a, b| {
        let key = |document: &SharedDocument| (document.role.clone(), document.document.clone());
        key(a).cmp(&key(b)).then(b.nodes.len().cmp(&a.nodes.len()))
    });
    found
}

/// Nodes with a document that waits, and those that have another shared document than most of their role.
fn late(nodes: &[Node], documents: &[SharedDocument]) -> Vec<Late> {
    let mut usual: BTreeMap<(&Option<String>, &str), &SharedDocument> = BTreeMap::new();
    for document in documents {
        usual.entry((&document.role, &document.document)).or_insert(document);
    }
    let key = |document: &'_ SharedDocument| {
        (document.role.clone(), document.document.clone(), document.digest.clone())
    };
    let all: HashMap<_, &SharedDocument> =
        documents.iter().map(|document| (key(document), document)).collect();
    let why = |node: &Node| {
        if node.pending {
            return Some("a changed document waits for the next boot".to_owned());
        }
        let shown = node.shown_document().filter(|_| node.is_shared())?;
        let usual = usual.get(&(&node.role, &*shown))?;
        let own = all.get(&(node.role.clone(), shown.clone(), node.digest.clone()))?;
        let (digest, most) = (own.digest.as_deref()?, usual.digest.as_deref()?);
        // Neither of two halves is late.
        (usual.nodes.len() > own.nodes.len()).then(|| {
            let nodes = counted(usual.nodes.len(), "node");
            format!("{shown} is {}, not {} as on {nodes}", short(digest), short(most))
        })
    };
    let late = nodes.iter().enumerate();
    late.filter_map(|(index, node)| Some(Late { node: index, why: why(node)? })).collect()
}

/// The first digits of a digest, which tell a fleet's documents apart.
pub fn short(digest: &str) -> &str {
    digest.get(..12).unwrap_or(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, verdict: &str, document: &str, digest: &str) -> Node {
        Node {
            name: name.to_owned(),
            verdict: verdict.to_owned(),
            document: Some(format!("/etc/nmstate/openshift/{document}.yml")),
            digest: Some(digest.repeat(64)),
            ..Node::default()
        }
    }

    #[test]
    fn who_is_late_and_who_fails_alike() {
        let mut nodes = vec![
            node("w-0", "IN FORCE", "cluster", "a"),
            node("w-1", "IN FORCE", "cluster", "a"),
            node("w-2", "IN FORCE", "cluster", "b"),
            node("w-3", "FELL BACK", "w-3", "c"),
            node("w-4", "FELL BACK", "w-4", "d"),
            node("w-5", "PENDING", "w-5", "e"),
        ];
        nodes[3].why = "w-3: gateway 192.0.2.1 does not answer".to_owned();
        nodes[4].why = "w-4: gateway 192.0.2.254 does not answer".to_owned();
        nodes[5].pending = true;
        let report = Report::of(&nodes);
        assert!(!report.is_good());
        let verdicts: Vec<_> = report
            .outcomes
            .iter()
            .map(|outcome| (&*outcome.verdict, outcome.nodes.len()))
            .collect();
        assert_eq!(verdicts, [("FELL BACK", 2), ("PENDING", 1), ("IN FORCE", 3)]);
        assert_eq!(report.groups[0].words, "…: gateway … does not answer");
        assert_eq!(report.groups[0].nodes, [3, 4]);
        assert_eq!(report.late.iter().map(|late| late.node).collect::<Vec<_>>(), [2, 5]);
        assert!(report.late[0].why.contains("not aaaaaaaaaaaa as on 2 nodes"), "{:?}", report.late);
        let documents: Vec<_> = report
            .documents
            .iter()
            .map(|document| {
                (document.document.rsplit('/').next().unwrap_or_default(), document.nodes.len())
            })
            .collect();
        assert_eq!(documents, [("HOST.yml", 3), ("cluster.yml", 2), ("cluster.yml", 1)]);
        assert!(Report::of(&nodes[..2]).is_good());
    }

    /// Each node has a token of its own for one document.
    #[test]
    fn nobody_is_late_by_a_token() {
        let tokens =
            ["hidden-a", "hidden-b"].map(|digest| node("w-0", "IN FORCE", "cluster", digest));
        let plain = ["a", "a"].map(|digest| node("w-1", "IN FORCE", "cluster", digest));
        let report = Report::of(&[tokens, plain].concat());
        assert_eq!(report.late, []);
        let digests = report
            .documents
            .iter()
            .map(|document| (document.digest.is_some(), document.nodes.len()));
        let digests: Vec<_> = digests.collect();
        assert!(digests.contains(&(false, 2)) && digests.contains(&(true, 2)), "{digests:?}");
    }
}

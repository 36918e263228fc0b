//! From candidates to one document.

use std::fmt;

use super::candidate::{Candidate, Reason, candidates};
use super::empty::is_empty;
use super::known::{Identity, Listing};
use super::precedence::{CLUSTER, Tier};

/// A choice, and probable mistakes in the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// This machine's document; `None` if there is none.
    pub choice: Option<Candidate>,
    /// In the order of discovery.
    pub warnings: Vec<Warning>,
}

/// A probable mistake in the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// A file for this machine ends in `.yaml`, which is not read.
    YamlSuffix(String),
    /// A host file for this machine has no content.
    EmptyHostFile(String),
    /// A better match hides a file for this machine.
    Hidden {
        /// The file.
        name: String,
        /// The better match.
        by: String,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::YamlSuffix(name) => {
                write!(f, "{name} is ignored: only files that end in .yml are read")
            }
            Self::EmptyHostFile(name) => write!(f, "{name} is empty and counts as absent"),
            Self::Hidden { name, by } => write!(f, "{name} is for this node too; {by} wins"),
        }
    }
}

/// The first matching document with content. For the running node: a second match is only a warning,
/// since no network would be worse.
pub fn select(
    tiers: &[Tier],
    identity: &Identity,
    listing: &Listing,
    mut is_empty: impl FnMut(&str) -> bool,
) -> Selection {
    let mut selection = Selection::default();
    for tier in tiers {
        for candidate in candidates(*tier, identity, &listing.names) {
            let file = format!("{}.yml", candidate.name);
            let is_cluster = candidate.reason == Reason::Cluster;
            match &selection.choice {
                Some(choice) if is_cluster || choice.name == candidate.name => {}
                _ if is_empty(&candidate.name) => {
                    if !is_cluster {
                        selection.warnings.push(Warning::EmptyHostFile(file));
                    }
                }
                None => selection.choice = Some(candidate),
                Some(choice) => {
                    let by = format!("{}.yml", choice.name);
                    selection.warnings.push(Warning::Hidden { name: file, by });
                }
            }
        }
        let ignored = candidates(*tier, identity, &listing.ignored).into_iter();
        let warnings =
            ignored.map(|candidate| Warning::YamlSuffix(format!("{}.yaml", candidate.name)));
        selection.warnings.extend(warnings);
    }
    selection
}

/// The candidates for the one document among equal matches, given each candidate's text. For the
/// initramfs: two documents are an error, since a wrong guess could cut the machine off unseen. The
/// same text under two names is one document.
///
/// # Errors
/// The first two candidates with different texts.
pub fn only(candidates: Vec<(Candidate, Vec<u8>)>) -> Result<Vec<Candidate>, Box<[Candidate; 2]>> {
    let mut texts = candidates.into_iter().filter(|(_, text)| !is_empty(text));
    let Some((first, text)) = texts.next() else { return Ok(Vec::new()) };
    let mut found = vec![first];
    for (candidate, other) in texts {
        if other != text {
            return Err(Box::new([found.swap_remove(0), candidate]));
        }
        found.push(candidate);
    }
    Ok(found)
}

/// True when the directory has documents for single machines.
pub fn has_host_files(listing: &Listing, mut is_empty: impl FnMut(&str) -> bool) -> bool {
    listing.names.iter().any(|name| name != CLUSTER && !is_empty(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::node::{Card, Dmi, HostName, INITRAMFS, RUNNING, names};
    use nmgen_document::mac::Mac;

    /// A `!` before a name marks a file without content.
    fn chosen(tiers: &[Tier], files: &[&str]) -> (Option<String>, Vec<String>) {
        let mut listing = Listing::default();
        files.iter().for_each(|file| listing.add(file.trim_start_matches('!')));
        let is_empty = |name: &str| files.contains(&format!("!{name}.yml").as_str());
        let selection = select(tiers, &worker(), &listing, is_empty);
        let warnings = selection.warnings.iter().map(ToString::to_string).collect();
        (selection.choice.map(|choice| choice.name), warnings)
    }

    fn worker() -> Identity {
        let card = |mac| Card { name: "eno1".to_owned(), mac };
        Identity {
            host_name: HostName::new("worker-0.example.org"),
            cards: Mac::parse("52:54:00:00:00:01").map(card).into_iter().collect(),
            dmi: vec![
                Dmi { what: "serial number", value: "CZ1".to_owned() },
                Dmi { what: "system UUID", value: "To be filled by O.E.M.".to_owned() },
            ],
        }
    }

    #[test]
    fn each_stage_has_its_order() {
        let by_name = ["worker-0", "worker-0.example.org"];
        let (by_mac, prefix, dmi) = ("52-54-00-00-00-01", "52-54-00", "cz1");
        let orders: [(&[Tier], Vec<&str>); 2] = [
            (RUNNING, [&by_name[..], &[by_mac, dmi, CLUSTER]].concat()),
            (INITRAMFS, [&[by_mac, prefix, dmi][..], &by_name, &[CLUSTER]].concat()),
        ];
        for (tiers, order) in orders {
            for first in 0..order.len() {
                let files: Vec<String> =
                    order[first..].iter().rev().map(|name| format!("{name}.yml")).collect();
                let files: Vec<&str> = files.iter().map(String::as_str).collect();
                assert_eq!(chosen(tiers, &files).0.as_deref(), Some(order[first]));
            }
        }
        assert_eq!(chosen(RUNNING, &["52-54-00.yml", "To be filled by O.E.M..yml"]).0, None);
        assert_eq!(chosen(RUNNING, &["worker-1.yml", "WORKER-0.yml", ".worker-0.yml"]).0, None);
    }

    #[test]
    fn each_name_that_is_looked_for_is_found() {
        let expected = ["worker-0", "worker-0.example.org", "52-54-00-00-00-01", "CZ1", CLUSTER];
        assert_eq!(names(RUNNING, &worker()), expected);
        for name in expected {
            assert_eq!(chosen(RUNNING, &[&format!("{name}.yml")]).0.as_deref(), Some(name));
        }
        assert_eq!(names(RUNNING, &Identity::default()), [CLUSTER]);
    }

    #[test]
    fn an_empty_host_file_counts_as_absent() {
        let (choice, warnings) = chosen(RUNNING, &["!worker-0.yml", "cluster.yml"]);
        assert_eq!(choice.as_deref(), Some(CLUSTER));
        assert_eq!(warnings, ["worker-0.yml is empty and counts as absent"]);
        assert_eq!(chosen(RUNNING, &["worker-1.yml", "!cluster.yml"]), (None, Vec::new()));
        assert!(is_empty(b"") && is_empty(b" \n\t\r\n") && !is_empty(b"---\n"));
        assert!(!is_empty(b"\xff"));
    }

    #[test]
    fn what_is_not_read_or_hidden_is_a_warning() {
        let (choice, warnings) = chosen(RUNNING, &["worker-0.yaml"]);
        assert_eq!(choice, None);
        assert_eq!(warnings, ["worker-0.yaml is ignored: only files that end in .yml are read"]);
        let (_, warnings) = chosen(RUNNING, &["worker-0.yml", "cz1.yml", "cluster.yml"]);
        assert_eq!(warnings, ["cz1.yml is for this node too; worker-0.yml wins"]);
    }

    #[test]
    fn two_documents_are_one_where_their_text_is() {
        let named = |name: &str| Candidate { name: name.to_owned(), reason: Reason::Cluster };
        let text = |name, text: &[u8]| (named(name), text.to_vec());
        let found = only(vec![text("a", b" \n"), text("b", b"x"), text("c", b"x")]);
        assert_eq!(found, Ok(vec![named("b"), named("c")]));
        let found = only(vec![text("b", b"x"), text("c", b"y")]);
        assert_eq!(found, Err(Box::new([named("b"), named("c")])));
        assert_eq!(only(vec![text("a", b"")]), Ok(Vec::new()));
    }

    #[test]
    fn host_files_are_not_cluster() {
        let listing = |files: &[&str]| {
            let mut listing = Listing::default();
            files.iter().for_each(|file| listing.add(file));
            listing
        };
        let has = |files: &[&str]| has_host_files(&listing(files), |name| name == "empty");
        assert!(!has(&["cluster.yml", "applied", "empty.yml", "b.yaml"]));
        assert!(has(&["a.yml"]));
    }
}

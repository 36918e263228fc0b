//! Which document is meant for this node: a pure function of identity and directory listing.
//!
//! A host file replaces `cluster.yml`; they are never merged. An empty file counts as absent.

use std::fmt;

/// A file in the documents' directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// File name.
    pub(crate) name: String,
    /// Whether it has no content besides white space.
    pub(crate) empty: bool,
}

/// What is known about the node. MAC addresses and DMI ids are read only where they matter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Identity {
    /// Short host name, `None` while the host has no real name.
    pub(crate) short: Option<String>,
    /// Host name as the kernel has it.
    pub(crate) full: String,
    /// `aa-bb-cc-dd-ee-ff`, lower case.
    pub(crate) macs: Vec<String>,
    /// DMI serial and UUID.
    pub(crate) dmi: Vec<String>,
}

/// Why a file was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    ShortHostname(String),
    FullHostname(String),
    Mac(String),
    Dmi(String),
    Cluster,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ShortHostname(name) => write!(f, "host file for short hostname {name}"),
            Self::FullHostname(name) => write!(f, "host file for hostname {name}"),
            Self::Mac(mac) => write!(f, "host file for MAC address {mac}"),
            Self::Dmi(id) => write!(f, "host file for DMI serial or UUID {id}"),
            Self::Cluster => f.write_str("cluster.yml, as no host file is for this node"),
        }
    }
}

/// The choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This file.
    File { name: String, reason: Reason },
    /// Nothing is meant for this node.
    None,
}

/// A choice, and what looks like a mistake in the directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) choice: Choice,
    pub(crate) warnings: Vec<Warning>,
}

/// What was probably not meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Warning {
    /// `.yaml` is not read.
    YamlSuffix(String),
    /// A host file for this node without content.
    EmptyHostFile(String),
    /// A file for this node that a better match hides.
    Hidden { name: String, by: String },
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

const CLUSTER: &str = "cluster.yml";

/// Whether the directory has documents for particular hosts.
pub(crate) fn has_host_files(entries: &[Entry]) -> bool {
    entries.iter().any(|e| !e.empty && e.name.ends_with(".yml") && e.name != CLUSTER)
}

/// Chooses; `entries` in any order.
pub(crate) fn select(identity: &Identity, entries: &[Entry]) -> Selection {
    let mut warnings = Vec::new();
    let candidates = candidates(identity);
    let mut choice = Choice::None;
    for (stem, reason) in &candidates {
        let name = format!("{stem}.yml");
        let found = entries.iter().find(|e| matches(&e.name, &name, reason));
        match (found, &choice) {
            (Some(entry), _) if entry.empty => {
                if *reason != Reason::Cluster {
                    warnings.push(Warning::EmptyHostFile(entry.name.clone()));
                }
            }
            (Some(entry), Choice::None) => {
                choice = Choice::File { name: entry.name.clone(), reason: reason.clone() };
            }
            (Some(entry), Choice::File { name: by, .. })
                if entry.name != *by && *reason != Reason::Cluster =>
            {
                warnings.push(Warning::Hidden { name: entry.name.clone(), by: by.clone() });
            }
            (Some(_) | None, _) => {}
        }
        let yaml = format!("{stem}.yaml");
        if entries.iter().any(|e| e.name == yaml) {
            warnings.push(Warning::YamlSuffix(yaml));
        }
    }
    Selection { choice, warnings }
}

/// File stems in order of precedence.
fn candidates(identity: &Identity) -> Vec<(String, Reason)> {
    let Identity { short, full, macs, dmi } = identity;
    let mut all = Vec::new();
    if let Some(short) = short {
        all.push((short.clone(), Reason::ShortHostname(short.clone())));
        if full != short {
            all.push((full.clone(), Reason::FullHostname(full.clone())));
        }
    }
    all.extend(macs.iter().map(|mac| (mac.clone(), Reason::Mac(mac.clone()))));
    all.extend(dmi.iter().map(|id| (id.clone(), Reason::Dmi(id.clone()))));
    all.push(("cluster".to_owned(), Reason::Cluster));
    all
}

/// Hardware ids are written in either case; host names are as they are.
fn matches(entry: &str, wanted: &str, reason: &Reason) -> bool {
    match reason {
        Reason::Mac(_) | Reason::Dmi(_) => entry.eq_ignore_ascii_case(wanted),
        Reason::ShortHostname(_) | Reason::FullHostname(_) | Reason::Cluster => entry == wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::{Choice, Entry, Identity, Reason, Warning, has_host_files, select};

    fn listing(names: &[&str]) -> Vec<Entry> {
        names
            .iter()
            .map(|n| Entry {
                name: n.trim_start_matches('!').to_owned(),
                empty: n.starts_with('!'),
            })
            .collect()
    }

    fn worker() -> Identity {
        Identity {
            short: Some("worker-0".to_owned()),
            full: "worker-0.example.org".to_owned(),
            macs: vec!["52-54-00-00-00-01".to_owned()],
            dmi: vec!["CZ1".to_owned()],
        }
    }

    fn chosen(identity: &Identity, names: &[&str]) -> Option<String> {
        match select(identity, &listing(names)).choice {
            Choice::File { name, .. } => Some(name),
            Choice::None => None,
        }
    }

    #[test]
    fn precedence() {
        let mut names = vec![
            "cluster.yml",
            "cz1.yml",
            "52-54-00-00-00-01.yml",
            "worker-0.example.org.yml",
            "worker-0.yml",
        ];
        while let Some(expected) = names.last().copied() {
            assert_eq!(chosen(&worker(), &names).as_deref(), Some(expected));
            names.pop();
        }
        assert_eq!(chosen(&worker(), &[]), None);
    }

    #[test]
    fn empty_host_file_falls_to_cluster_with_a_warning() {
        let s = select(&worker(), &listing(&["!worker-0.yml", "cluster.yml"]));
        assert_eq!(
            s.choice,
            Choice::File { name: "cluster.yml".to_owned(), reason: Reason::Cluster }
        );
        assert_eq!(s.warnings, [Warning::EmptyHostFile("worker-0.yml".to_owned())]);
    }

    #[test]
    fn files_of_others_and_empty_cluster_choose_nothing() {
        assert_eq!(chosen(&worker(), &["worker-1.yml", "!cluster.yml", "applied"]), None);
        assert_eq!(chosen(&worker(), &["WORKER-0.yml"]), None);
    }

    #[test]
    fn yaml_files_are_named() {
        let s = select(&worker(), &listing(&["worker-0.yaml"]));
        assert_eq!(s.choice, Choice::None);
        assert_eq!(
            s.warnings[0].to_string(),
            "worker-0.yaml is ignored: only files that end in .yml are read"
        );
    }

    #[test]
    fn a_hidden_file_is_named() {
        let s = select(&worker(), &listing(&["worker-0.yml", "worker-0.example.org.yml"]));
        assert_eq!(s.warnings.len(), 1);
    }

    #[test]
    fn host_files_are_not_cluster() {
        assert!(!has_host_files(&listing(&["cluster.yml", "applied", "!a.yml", "b.yaml"])));
        assert!(has_host_files(&listing(&["a.yml"])));
    }
}

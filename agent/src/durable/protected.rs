//! The files that a transaction may write, and their distinction from files that other programs
//! create at the same time.

use serde::{Deserialize, Serialize};

/// Content of a protected path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ProtectedKind {
    /// Connection profiles, written by NetworkManager.
    Profiles,
    /// Dispatcher scripts, of which nmstate writes `nmstate-INTERFACE-ACTION.sh`.
    DispatcherScripts,
    /// systemd's `.link` files, of which nmstate writes `98-nmstate-INTERFACE.link` for alternative
    /// names.
    LinkFiles,
    /// NetworkManager's own settings.
    Settings,
    /// The static host name.
    HostName,
}

/// A path that a transaction may change.
pub(super) struct Protected {
    pub(super) path: &'static str,
    pub(super) kind: ProtectedKind,
    /// Whether a reboot deletes the path.
    pub(super) is_volatile: bool,
}

pub(super) const PROTECTED: [Protected; 6] = [
    durable("/etc/NetworkManager/system-connections", ProtectedKind::Profiles),
    Protected {
        path: "/run/NetworkManager/system-connections",
        kind: ProtectedKind::Profiles,
        is_volatile: true,
    },
    durable("/var/lib/NetworkManager/NetworkManager-intern.conf", ProtectedKind::Settings),
    durable("/etc/hostname", ProtectedKind::HostName),
    durable("/etc/NetworkManager/dispatcher.d", ProtectedKind::DispatcherScripts),
    durable("/etc/systemd/network", ProtectedKind::LinkFiles),
];

const fn durable(path: &'static str, kind: ProtectedKind) -> Protected {
    Protected { path, kind, is_volatile: false }
}

/// The names in the document, and so the files that nmstate writes for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct DocumentNames {
    /// Words of the document, which include the names of all its interfaces.
    words: Vec<String>,
    /// Whether it sets the host name.
    hostname: bool,
}

impl DocumentNames {
    /// The scope of a document's text and its resolved state.
    pub(crate) fn new(texts: &[&str], hostname: bool) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
        let all = texts.iter().flat_map(|text| text.split(|c| !is_part(c)));
        // A key ends in a colon.
        let words = all.map(|word| word.trim_end_matches(':')).filter(|word| !word.is_empty());
        let mut words: Vec<String> = words.map(str::to_owned).collect();
        words.sort_unstable();
        words.dedup();
        Self { words, hostname }
    }

    fn has(&self, interface: &str) -> bool {
        self.words.iter().any(|word| word == interface)
    }
}

impl ProtectedKind {
    /// Whether NetworkManager or nmstate may write the file `name` for this document; `name` is
    /// empty for a path that is a single file.
    pub(super) fn may_write(self, name: &str, scope: &DocumentNames) -> bool {
        let interface = match self {
            Self::Profiles | Self::Settings => return true,
            Self::HostName => return scope.hostname,
            Self::DispatcherScripts => name
                .strip_prefix("nmstate-")
                .and_then(|n| n.strip_suffix("-up.sh").or_else(|| n.strip_suffix("-down.sh"))),
            Self::LinkFiles => {
                name.strip_prefix("98-nmstate-").and_then(|n| n.strip_suffix(".link"))
            }
        };
        interface.is_some_and(|interface| scope.has(interface))
    }

    /// Whether the transaction wrote this new file, judged by its content.
    pub(super) fn is_written(self, name: &str, bytes: &[u8], scope: &DocumentNames) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let value = |key: &str| {
            let mut lines = text.lines().map(str::trim);
            lines.find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='))
        };
        self.may_write(name, scope)
            && match self {
                // NetworkManager's checkpoint deletes every newer profile. Beyond that, a profile
                // for another interface cannot be the document's; one without an interface could
                // take one of the old network.
                Self::Profiles => {
                    name.ends_with(".nmconnection")
                        && value("interface-name").is_none_or(|name| scope.has(name.trim()))
                }
                // `nmstatectl persist-nic-names` writes files of the same name, but with `Name=`.
                Self::LinkFiles => value("AlternativeName").is_some(),
                Self::DispatcherScripts | Self::Settings | Self::HostName => true,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::{DocumentNames, ProtectedKind};

    #[test]
    fn a_document_speaks_of_its_interfaces() {
        let text = "interfaces:\n- {name: eno1, type: ethernet}\n- name: 'bond0.100'\n";
        let scope = DocumentNames::new(&[text], false);
        assert!(scope.has("eno1") && scope.has("bond0.100"));
        assert!(!scope.has("eno") && !scope.has("bond0") && !scope.has("eno10"));
    }

    #[test]
    fn files_of_others_are_told_from_the_documents() {
        let scope = DocumentNames::new(&["interfaces:\n- name: eno1\n"], false);
        let written = |kind: ProtectedKind, name: &str, text: &str| {
            kind.is_written(name, text.as_bytes(), &scope)
        };
        for (name, text, is_own) in [
            ("a.nmconnection", "[connection]\ninterface-name=eno1\n", true),
            ("a.nmconnection", "[connection]\ninterface-name = eno1 \n", true),
            ("a.nmconnection", "[connection]\nid=any\n", true),
            ("a.nmconnection", "[connection]\ninterface-name=eno2\n", false),
            ("README", "interface-name=eno1\n", false),
        ] {
            assert_eq!(written(ProtectedKind::Profiles, name, text), is_own, "{name} {text}");
        }
        for (name, text, is_own) in [
            ("98-nmstate-eno1.link", "[Link]\nAlternativeName=lan\n", true),
            ("98-nmstate-eno1.link", "[Link]\nName=eno1\n", false),
            ("98-nmstate-eno2.link", "[Link]\nAlternativeName=lan\n", false),
            ("10-eno1.link", "[Link]\nAlternativeName=lan\n", false),
        ] {
            assert_eq!(written(ProtectedKind::LinkFiles, name, text), is_own, "{name} {text}");
        }
        assert!(written(ProtectedKind::DispatcherScripts, "nmstate-eno1-up.sh", ""));
        assert!(!written(ProtectedKind::DispatcherScripts, "nmstate-eno2-up.sh", ""));
        assert!(!written(ProtectedKind::DispatcherScripts, "10-ofport-request.sh", ""));
        assert!(!written(ProtectedKind::HostName, "hostname", ""));
    }
}

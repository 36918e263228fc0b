//! The mark in the running system: it has received its profiles, and for which host, from which
//! document and on which machine.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nmgen_core::node::{Card, names_a_machine};
use nmgen_core::write;
use nmgen_document::mac::Mac;

use crate::fault::Fault;
use crate::persist::digests;
use crate::root::{Paths, STAGE};
use crate::wait::cards;

/// Marks are small; a larger file is damaged.
const MAX_BYTES: u64 = 4096;
/// So many fit in; a machine with more is known by these.
const MAX_ADDRESSES: usize = 64;
const COMMENT: &str = "\
# nmgen boot gave this system its network profiles. What has become of them since is the system's own
# affair, so later boots give it none. Remove this file to have missing ones written again.
";

/// The mark's fields. An empty one is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The document's name.
    pub(crate) host: String,
    /// Its digest.
    document: String,
    /// The firmware's identifier.
    machine: String,
    /// The permanent addresses of the machine's cards.
    addresses: Vec<Mac>,
}

impl Mark {
    /// The mark for this machine and a document.
    pub(crate) fn of(paths: &Paths, host: &str, text: &[u8], cards: &[Card]) -> Self {
        let mut addresses: Vec<Mac> = cards.iter().map(|card| card.mac).collect();
        addresses.sort_unstable();
        addresses.dedup();
        addresses.truncate(MAX_ADDRESSES);
        Self {
            host: host.to_owned(),
            document: format!("sha256:{}", digests::of(text)),
            machine: machine(paths),
            addresses,
        }
    }

    /// Stages it for the second step.
    pub(crate) fn stage(&self, paths: &Paths) -> Result<(), Fault> {
        write::write_file(&staged(paths), self.text().into_bytes()).map_err(Fault::Machine)
    }

    /// The staged mark; without fields if the first step was another version's.
    pub(crate) fn staged(paths: &Paths) -> Result<Self, Fault> {
        Ok(Self::read(&staged(paths))?.unwrap_or_default())
    }

    /// A mark that was written before; `None` if there is none. A damaged one has no fields.
    pub(crate) fn read(path: &Path) -> Result<Option<Self>, Fault> {
        let read = fs::symlink_metadata(path).and_then(|found| {
            let is_mark = found.is_file() && found.len() <= MAX_BYTES;
            if is_mark { fs::read(path) } else { Ok(Vec::new()) }
        });
        match read {
            Ok(bytes) => Ok(Some(Self::parse(&String::from_utf8_lossy(&bytes)))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(source) => Err(Fault::ReadFile { path: path.to_owned(), source }),
        }
    }

    fn parse(text: &str) -> Self {
        let value = |key: &str| {
            let value = |line: &str| Some(line.strip_prefix(key)?.strip_prefix('=')?.to_owned());
            text.lines().find_map(value).unwrap_or_default()
        };
        let addresses = value("addresses").split(' ').filter_map(Mac::parse).collect();
        let (host, document, machine) = (value("host"), value("document"), value("machine"));
        Self { host, document, machine, addresses }
    }

    /// The file's text.
    pub(crate) fn text(&self) -> String {
        let Self { host, document, machine, .. } = self;
        let addresses: Vec<String> = self.addresses.iter().map(Mac::to_string).collect();
        let addresses = addresses.join(" ");
        format!(
            "{COMMENT}host={host}\ndocument={document}\nmachine={machine}\naddresses={addresses}\n"
        )
    }

    /// True when nothing is known of it but that it exists.
    pub(crate) fn is_damaged(&self) -> bool {
        self.host.is_empty() || self.document.is_empty()
    }

    /// True when both have no card in common, and not the firmware's identifier. A card may fail or be replaced, and so may the
    /// board with the identifier.
    fn is_of_another_machine(&self, now: &Self) -> bool {
        let is_known = |mark: &Self| !mark.machine.is_empty();
        let has_common = self.addresses.iter().any(|mac| now.addresses.contains(mac));
        match (is_known(self), is_known(now)) {
            _ if has_common => false,
            (true, true) => self.machine != now.machine,
            _ => !self.addresses.is_empty() && !now.addresses.is_empty(),
        }
    }

    /// Its identifier in messages: the firmware's, else the first address.
    fn machine(&self) -> String {
        let address = || self.addresses.first().map(|mac| format!("MAC address {mac}"));
        match self.machine.as_str() {
            "" => address().unwrap_or_default(),
            machine => machine.to_owned(),
        }
    }

    /// How `now`, this boot's mark, differs from this one, as a part of a message.
    pub(crate) fn difference(&self, now: &Self) -> Option<String> {
        let is_other =
            |one: &str, other: &str| !one.is_empty() && !other.is_empty() && one != other;
        if self.is_of_another_machine(now) {
            return Some(format!(
                "on another machine ({}; this one has {})",
                self.machine(),
                now.machine()
            ));
        }
        if is_other(&self.host, &now.host) {
            return Some(format!("as {}; this boot's document is {}", self.host, now.host));
        }
        let text = || format!("from another text of {}.yml", self.host);
        is_other(&self.document, &now.document).then(text)
    }
}

fn staged(paths: &Paths) -> PathBuf {
    paths.under(STAGE).join("mark")
}

/// The UUID, else the serial number.
fn machine(paths: &Paths) -> String {
    let dmi = cards::dmi(paths).into_iter().rev();
    let mut usable = dmi.filter(|dmi| names_a_machine(&dmi.value));
    usable.next().map(|dmi| format!("{} {}", dmi.what, dmi.value)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(host: &str, document: &str, machine: &str) -> Mark {
        let addresses = Mac::parse("52:54:00:00:00:01").filter(|_| machine.is_empty());
        Mark {
            host: host.into(),
            document: document.into(),
            machine: machine.into(),
            addresses: addresses.into_iter().collect(),
        }
    }

    #[test]
    fn the_text_is_read_back() {
        let mark = mark("worker-0", "sha256:00", "system UUID 1");
        assert_eq!(Mark::parse(&mark.text()), mark);
        assert!(!mark.is_damaged());
        for text in ["# an older one\n", "host=worker-0\n", "document=sha256:00\n"] {
            assert!(Mark::parse(text).is_damaged(), "{text}");
        }
    }

    #[test]
    fn the_weightiest_difference_is_told_and_unknown_fields_differ_from_nothing() {
        let first = mark("worker-0", "a", "system UUID 1");
        let difference = |now: &Mark| first.difference(now).unwrap_or_default();
        assert_eq!(difference(&first), "");
        let other = mark("worker-1", "b", "system UUID 2");
        assert!(difference(&other).starts_with("on another machine"));
        assert!(difference(&mark("worker-1", "b", "system UUID 1")).contains("worker-1"));
        assert!(difference(&mark("worker-0", "b", "")).contains("another text of worker-0.yml"));
        assert_eq!(Mark::default().difference(&other), None);
    }

    #[test]
    fn one_card_in_common_is_the_same_machine() {
        let with = |machine: &str, cards: &str| {
            Mark::parse(&format!("host=a\ndocument=b\nmachine={machine}\naddresses={cards}\n"))
        };
        let (one, two) = ("52:54:00:00:00:01", "52:54:00:00:00:02");
        let both = format!("{one} {two}");
        for (before, now, is_other) in [
            (with("", &both), with("", two), false),
            (with("", one), with("", two), true),
            (with("UUID 1", one), with("UUID 2", &both), false),
            (with("UUID 1", one), with("UUID 1", two), false),
            (with("UUID 1", one), with("UUID 2", two), true),
            (with("UUID 1", ""), with("", ""), false),
        ] {
            assert_eq!(before.is_of_another_machine(&now), is_other, "{before:?} {now:?}");
        }
    }
}

//! Which of the documents is this machine's.

use std::fmt;

use super::fault::Fault;
use super::host_file::{addresses, bytes};
use super::listing::HostsDirectory;
use super::machine::{Card, Cards};
use super::mentions::Mentions;
use crate::mac::{Mac, MacPrefix};
use crate::source::CLUSTER;

/// Who this machine is, but for its network cards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The kernel command line's word.
    pub(super) host: Option<String>,
    /// What each is, and what it says.
    pub(super) dmi: Vec<(&'static str, String)>,
    pub(super) host_name: Option<String>,
}

/// The document that is this machine's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choice {
    /// The file's name without `.yml`.
    pub(super) name: String,
    pub(super) reason: Reason,
    /// Cards that the file is named after: those of its cards that have no address stand for them.
    pub(super) cards: Vec<Card>,
}

/// Why it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Reason {
    KernelArgument,
    /// An address, and the card that has it.
    Mac(Mac, String),
    /// A file's name, and the card whose address begins so.
    MacPrefix(String, String),
    Dmi(&'static str, String),
    HostName(String),
    Cluster,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KernelArgument => f.write_str("nmgen.host= says so"),
            Self::Mac(mac, card) => write!(f, "{card} has the MAC address {mac}"),
            Self::MacPrefix(prefix, card) => {
                write!(f, "the MAC address of {card} begins with {}", prefix.replace('-', ":"))
            }
            Self::Dmi(what, value) => write!(f, "its {what} is {value}"),
            Self::HostName(name) => write!(f, "its host name is {name}"),
            Self::Cluster => f.write_str("no document is for it alone"),
        }
    }
}

/// Chooses among the documents of a directory, as often as there are other cards to look at.
pub(super) struct Chooser<'d> {
    directory: &'d HostsDirectory,
    identity: Identity,
    /// Read when there is a card to look for.
    mentions: Option<Mentions<'d>>,
}

impl<'d> Chooser<'d> {
    pub(super) fn new(directory: &'d HostsDirectory, identity: Identity) -> Self {
        Self { directory, identity, mentions: None }
    }

    /// The document that is this machine's whatever cards come later; `None` where there is none so far.
    ///
    /// # Errors
    /// [`Fault::Ambiguous`]: two match equally well. [`Fault::UnknownHost`]: the kernel command line names
    /// one that is not there. A document that had to be looked at cannot be read.
    pub(super) fn certain(&mut self, cards: &Cards) -> Result<Option<Choice>, Fault> {
        let Some(host) = &self.identity.host else {
            let candidates = self.by_mac(cards)?;
            return self.only(candidates);
        };
        let name = host.strip_suffix(".yml").unwrap_or(host);
        if !self.directory.has(name) {
            let path = self.directory.path.clone();
            return Err(Fault::UnknownHost { name: host.clone(), path });
        }
        let choice = choice(name, Reason::KernelArgument, cards);
        Ok(Some(Choice { name: self.directory.document(name).to_owned(), ..choice }))
    }

    /// The document for a machine with these cards and no others.
    ///
    /// # Errors
    /// As above.
    pub(super) fn fallback(&self, cards: &Cards) -> Result<Option<Choice>, Fault> {
        let tiers: [fn(&Self, &Cards) -> Vec<Choice>; 4] =
            [Self::by_mac_prefix, Self::by_dmi, Self::by_host_name, Self::by_cluster];
        for tier in tiers {
            if let Some(choice) = self.only(tier(self, cards))? {
                return Ok(Some(choice));
            }
        }
        Ok(None)
    }

    /// The one host among the candidates.
    fn only(&self, candidates: Vec<Choice>) -> Result<Option<Choice>, Fault> {
        let mut found: Vec<(Choice, Vec<u8>)> = Vec::new();
        for mut candidate in candidates {
            candidate.name = self.directory.document(&candidate.name).to_owned();
            let text = bytes(&self.directory.file(&candidate.name))?;
            // A host may match in two ways, and have a copy of its own for its address. An empty file
            // counts as if it were not there.
            match found.iter_mut().find(|(_, known)| *known == text) {
                Some((known, _)) => {
                    let known = &mut known.cards;
                    for card in candidate.cards {
                        if !known.contains(&card) {
                            known.push(card);
                        }
                    }
                }
                None if text.trim_ascii().is_empty() => {}
                None => found.push((candidate, text)),
            }
        }
        match found.as_slice() {
            [] => Ok(None),
            [(one, _)] => Ok(Some(one.clone())),
            [(first, _), (second, _), ..] => Err(Fault::Ambiguous {
                files: [first, second].map(|choice| self.directory.file(&choice.name)),
                reasons: [first, second].map(|choice| choice.reason.to_string()),
            }),
        }
    }

    /// Files named after an address, and documents with a `mac-address` of this machine.
    fn by_mac(&mut self, cards: &Cards) -> Result<Vec<Choice>, Fault> {
        let mut found = Vec::new();
        let reason = |card: &Card| Reason::Mac(card.mac, card.name.clone());
        for (name, prefix) in self.named_by_bytes() {
            let card = cards.list.iter().find(|card| prefix.is_whole(&card.mac));
            found.extend(card.map(|card| choice(name, reason(card), cards)));
        }
        for name in self.mentioning(cards)? {
            let addresses = addresses(&self.directory.file(name))?;
            // A document that cannot be read may be meant for any of them.
            let is_meant =
                |card: &&Card| addresses.as_ref().is_none_or(|all| all.contains(&card.mac));
            if let Some(card) = cards.list.iter().find(is_meant) {
                found.push(choice(name, reason(card), cards));
            }
        }
        Ok(found)
    }

    /// Files named after the beginning of an address; a longer one is a better match.
    fn by_mac_prefix(&self, cards: &Cards) -> Vec<Choice> {
        let mut found: Vec<(usize, Choice)> = Vec::new();
        for (name, prefix) in self.named_by_bytes() {
            let is_it = |card: &&Card| prefix.matches(&card.mac) && !prefix.is_whole(&card.mac);
            let card = cards.list.iter().find(is_it);
            found.extend(card.map(|card| {
                let reason = Reason::MacPrefix(name.to_owned(), card.name.clone());
                (prefix.len(), choice(name, reason, cards))
            }));
        }
        let longest = found.iter().map(|(length, _)| *length).max();
        found.retain(|(length, _)| Some(*length) == longest);
        found.into_iter().map(|(_, choice)| choice).collect()
    }

    /// Serial numbers and UUIDs are written in either case.
    fn by_dmi(&self, cards: &Cards) -> Vec<Choice> {
        let mut found = Vec::new();
        for (what, value) in &self.identity.dmi {
            let names = self.directory.names.iter().filter(|name| name.eq_ignore_ascii_case(value));
            let reason = Reason::Dmi(what, value.clone());
            found.extend(names.map(|name| choice(name, reason.clone(), cards)));
        }
        found
    }

    /// The short name, else the whole one.
    fn by_host_name(&self, cards: &Cards) -> Vec<Choice> {
        let Some(name) = &self.identity.host_name else { return Vec::new() };
        let short = name.split('.').next().unwrap_or(name);
        let found = [short, name].into_iter().find(|name| self.directory.has(name));
        let reason = Reason::HostName(name.clone());
        found.map(|found| choice(found, reason, cards)).into_iter().collect()
    }

    fn by_cluster(&self, cards: &Cards) -> Vec<Choice> {
        let is_there = self.directory.has(CLUSTER);
        is_there.then(|| choice(CLUSTER, Reason::Cluster, cards)).into_iter().collect()
    }

    fn named_by_bytes(&self) -> impl Iterator<Item = (&'d str, MacPrefix)> + use<'d> {
        let named = |name: &'d String| Some((name.as_str(), MacPrefix::of_file_name(name)?));
        self.directory.names.iter().filter_map(named)
    }

    fn mentioning(&mut self, cards: &Cards) -> Result<Vec<&'d str>, Fault> {
        let macs: Vec<Mac> = cards.list.iter().map(|card| card.mac).collect();
        if macs.is_empty() {
            return Ok(Vec::new());
        }
        let mentions = match self.mentions.take() {
            Some(mentions) => mentions,
            None => Mentions::read(self.directory)?,
        };
        self.mentions.insert(mentions).of(&macs)
    }
}

fn choice(name: &str, reason: Reason, cards: &Cards) -> Choice {
    let prefix = MacPrefix::of_file_name(name);
    let is_meant = |card: &&Card| prefix.as_ref().is_some_and(|prefix| prefix.matches(&card.mac));
    let cards = cards.list.iter().filter(is_meant).cloned().collect();
    Choice { name: name.to_owned(), reason, cards }
}

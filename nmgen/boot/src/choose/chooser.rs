//! Chooses this machine's document: gathers the input of [`node`](nmgen_core::node)'s decision.

use std::path::PathBuf;

use nmgen_core::node::{self, Candidate, Card, INITRAMFS, Identity, Reason, Tier};
use nmgen_document::mac::{Mac, MacPrefix};

use crate::choose::host_file::{addresses, bytes};
use crate::choose::listing::HostsDirectory;
use crate::choose::mentions::Mentions;
use crate::fault::Fault;
use crate::wait::cards::Cards;

/// The document chosen for this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChosenDocument {
    /// The file's name without `.yml`.
    pub(crate) name: String,
    pub(crate) reason: Reason,
    /// The cards that the file is named after; cards of the document without a MAC address stand for
    /// them.
    pub(crate) cards: Vec<Card>,
}

impl ChosenDocument {
    /// The beginning of the line for the log.
    pub(crate) fn told(&self) -> String {
        match self.reason {
            Reason::Cluster => "this machine is one of the cluster".to_owned(),
            Reason::KernelArgument
            | Reason::MacAddress { .. }
            | Reason::MacPrefix { .. }
            | Reason::Dmi { .. }
            | Reason::ShortHostName(_)
            | Reason::FullHostName(_) => format!("this machine is {}", self.name),
        }
    }
}

/// The reason as text for the log.
pub(crate) fn shown(reason: &Reason) -> String {
    match reason {
        Reason::KernelArgument => "nmgen.host= names it".to_owned(),
        Reason::MacAddress { mac, card } => format!("{card} has the MAC address {mac}"),
        Reason::MacPrefix { prefix, card } => {
            format!("the MAC address of {card} begins with {}", prefix.replace('-', ":"))
        }
        Reason::Dmi { what, value } => format!("its {what} is {value}"),
        Reason::ShortHostName(name) | Reason::FullHostName(name) => {
            format!("its host name is {}", name.as_str())
        }
        Reason::Cluster => "no host file matches".to_owned(),
    }
}

/// Chooses among the documents of a directory; asked again whenever cards appear.
pub(crate) struct Chooser<'d> {
    directory: &'d HostsDirectory,
    /// The value of `nmgen.host=`.
    host: Option<String>,
    /// Without the cards.
    identity: Identity,
    /// Read once the first card is there.
    mentions: Option<Mentions<'d>>,
    /// Cards whose address several documents name, with two of them.
    shared: Vec<(Card, [PathBuf; 2])>,
    /// All warnings, and those that are not told yet.
    told: Vec<String>,
    warnings: Vec<String>,
}

impl<'d> Chooser<'d> {
    pub(crate) fn new(
        directory: &'d HostsDirectory,
        host: Option<String>,
        identity: Identity,
    ) -> Self {
        Self {
            directory,
            host,
            identity,
            mentions: None,
            shared: Vec::new(),
            told: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The document that no later card can change; `None` if there is none yet.
    ///
    /// # Errors
    /// [`Fault::Ambiguous`]: two documents match equally well. [`Fault::UnknownHost`]: `nmgen.host=`
    /// names a missing document. A candidate document cannot be read.
    pub(crate) fn certain(&mut self, cards: &Cards) -> Result<Option<ChosenDocument>, Fault> {
        let Some(host) = &self.host else {
            let mut candidates = Vec::new();
            let by_name = self.matching(Tier::MacAddress, cards);
            for card in &cards.list {
                candidates.append(&mut self.of_card(card, &by_name)?);
            }
            // Whichever card came first.
            candidates.sort_by(|one, other| one.name.cmp(&other.name));
            return self.only(candidates, cards);
        };
        let name = host.strip_suffix(".yml").unwrap_or(host);
        if !self.directory.has(name) {
            let path = self.directory.path.clone();
            return Err(Fault::UnknownHost { name: host.clone(), path });
        }
        let cards = named_after(name, cards);
        let name = self.directory.document(name).to_owned();
        Ok(Some(ChosenDocument { name, reason: Reason::KernelArgument, cards }))
    }

    /// The document for a machine that has these cards and gets no more.
    ///
    /// # Errors
    /// See [`Self::certain`].
    pub(crate) fn fallback(&self, cards: &Cards) -> Result<Option<ChosenDocument>, Fault> {
        for tier in INITRAMFS.iter().filter(|tier| **tier != Tier::MacAddress) {
            let Some(choice) = self.only(self.matching(*tier, cards), cards)? else { continue };
            // One of two documents may be this machine's: another's network is no way out.
            let is_own =
                |card: &Card| cards.list.contains(card) && !cards.is_of_every_machine(card);
            return match self.shared.iter().find(|(card, _)| is_own(card)) {
                Some((card, files)) if choice.reason == Reason::Cluster => {
                    Err(Fault::Disqualified {
                        address: format!("{} ({})", card.mac, card.name),
                        files: files.clone(),
                    })
                }
                _ => Ok(Some(choice)),
            };
        }
        Ok(None)
    }

    /// Every match, the best first; documents that cannot be read are left out.
    pub(crate) fn matches(&mut self, cards: &Cards) -> Vec<Candidate> {
        let by_name = self.matching(Tier::MacAddress, cards);
        let mut found = by_name.clone();
        for card in &cards.list {
            found.extend(self.of_card(card, &by_name).unwrap_or_default());
        }
        let others = INITRAMFS.iter().filter(|tier| **tier != Tier::MacAddress);
        found.extend(others.flat_map(|tier| self.matching(*tier, cards)));
        found
    }

    fn matching(&self, tier: Tier, cards: &Cards) -> Vec<Candidate> {
        let identity = Identity { cards: cards.list.clone(), ..self.identity.clone() };
        node::candidates(tier, &identity, &self.directory.listing.names)
    }

    /// The one host among the candidates. A host may match twice: by name and by a copy for its MAC
    /// address.
    fn only(
        &self,
        candidates: Vec<Candidate>,
        cards: &Cards,
    ) -> Result<Option<ChosenDocument>, Fault> {
        let mut texts = Vec::new();
        let mut meant = Vec::new();
        for candidate in candidates {
            meant.push((candidate.reason.clone(), named_after(&candidate.name, cards)));
            let name = self.directory.document(&candidate.name).to_owned();
            let text = bytes(&self.directory.file(&name))?;
            texts.push((Candidate { name, ..candidate }, text));
        }
        let found = node::only(texts).map_err(|both| Fault::Ambiguous {
            files: [&both[0], &both[1]].map(|candidate| self.directory.file(&candidate.name)),
            reasons: [&both[0], &both[1]].map(|candidate| shown(&candidate.reason)),
        })?;
        let Some(first) = found.first() else { return Ok(None) };
        let mut choice = ChosenDocument {
            name: first.name.clone(),
            reason: first.reason.clone(),
            cards: Vec::new(),
        };
        let is_found = |reason: &Reason| found.iter().any(|candidate| candidate.reason == *reason);
        for card in
            meant.into_iter().filter(|(reason, _)| is_found(reason)).flat_map(|(_, named)| named)
        {
            if !choice.cards.contains(&card) {
                choice.cards.push(card);
            }
        }
        Ok(Some(choice))
    }

    /// The documents that name a card's address: in the file's name (`by_name`) or as a `mac-address`.
    /// Several texts mean an address that many machines have, such as that of a BMC's interface: it
    /// identifies none of them, whichever cards come first.
    fn of_card(&mut self, card: &Card, by_name: &[Candidate]) -> Result<Vec<Candidate>, Fault> {
        let reason = Reason::MacAddress { mac: card.mac, card: card.name.clone() };
        let named = by_name.iter().filter(|candidate| candidate.reason == reason);
        let mut names: Vec<(String, bool)> = Vec::new();
        for candidate in named {
            let addresses = addresses(&self.directory.file(&candidate.name))?;
            names.push((candidate.name.clone(), addresses.is_some()));
        }
        for name in self.mentioning(card.mac)? {
            match addresses(&self.directory.file(name))? {
                Some(all) if !all.contains(&card.mac) => {}
                // An unreadable one may be meant for any card.
                addresses => names.push((name.to_owned(), addresses.is_some())),
            }
        }
        let readable =
            names.iter().find(|(_, is_readable)| *is_readable).map(|name| name.0.clone());
        if let Some(readable) = readable {
            for (name, _) in names.extract_if(.., |(_, is_readable)| !*is_readable) {
                let [broken, other] =
                    [&name, &readable].map(|stem| self.directory.file(stem).display().to_string());
                let warning = format!(
                    "{broken} cannot be read; {other} has the MAC address {} and counts",
                    card.mac
                );
                self.warn(warning);
            }
        }
        let mut found = Vec::new();
        let mut first: Option<(String, Vec<u8>)> = None;
        for (name, _) in names {
            let document = self.directory.document(&name).to_owned();
            let text = bytes(&self.directory.file(&document))?;
            if node::is_empty(&text) {
                continue;
            }
            match &first {
                None => first = Some((document, text)),
                Some((_, known)) if *known == text => {}
                Some((other, _)) => {
                    let files = [other, &document].map(|stem| self.directory.file(stem));
                    let [one, two] = [&files[0], &files[1]].map(|file| file.display().to_string());
                    let warning = format!(
                        "{} ({}) identifies no machine: {one} and {two} have this MAC address",
                        card.mac, card.name
                    );
                    if !self.shared.iter().any(|(shared, _)| shared.mac == card.mac) {
                        self.shared.push((card.clone(), files));
                    }
                    self.warn(warning);
                    return Ok(Vec::new());
                }
            }
            found.push(Candidate { name, reason: reason.clone() });
        }
        Ok(found)
    }

    /// Keeps a warning, once.
    fn warn(&mut self, warning: String) {
        if !self.told.contains(&warning) {
            self.told.push(warning.clone());
            self.warnings.push(warning);
        }
    }

    /// Hints where no document matches: documents that mention the address of a card, and files that are not UTF-8. One of them may
    /// be meant.
    ///
    /// # Errors
    /// A document that is read again cannot be read.
    pub(crate) fn near(&mut self, cards: &Cards) -> Result<Vec<String>, Fault> {
        let mut near = Vec::new();
        for card in &cards.list {
            for name in self.mentioning(card.mac)? {
                near.push(format!("{name}.yml mentions {}", card.mac));
            }
        }
        near.dedup();
        let foreign = self.mentions.as_ref().map(Mentions::foreign).unwrap_or_default();
        near.extend(foreign.iter().map(|name| format!("{name}.yml is not UTF-8")));
        Ok(near)
    }

    /// True when a document is for the machine with some address: a later card may have it.
    pub(crate) fn knows_addresses(&self) -> bool {
        let is_whole =
            |name: &String| MacPrefix::of_file_name(name).is_some_and(|prefix| prefix.is_address());
        self.mentions.as_ref().is_some_and(Mentions::has_any)
            || self.directory.listing.names.iter().any(is_whole)
    }

    /// The warnings that were not told yet.
    pub(crate) fn warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn mentioning(&mut self, mac: Mac) -> Result<Vec<&'d str>, Fault> {
        let mentions = match self.mentions.take() {
            Some(mentions) => mentions,
            None => Mentions::read(self.directory)?,
        };
        self.mentions.insert(mentions).of(mac)
    }
}

/// The cards that a file is named after.
fn named_after(name: &str, cards: &Cards) -> Vec<Card> {
    let prefix = MacPrefix::of_file_name(name);
    let is_meant = |card: &&Card| prefix.as_ref().is_some_and(|prefix| prefix.matches(&card.mac));
    cards.list.iter().filter(is_meant).cloned().collect()
}

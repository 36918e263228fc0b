//! Profiles that are ready to be written.

use nmgen_core::node::Card;
use nmgen_core::profile::{Configuration, Keyfile, SystemFile};

use crate::names::Names;

/// A profile of the running system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Final {
    /// `<id>.nmconnection`.
    pub(super) file_name: String,
    pub(super) keyfile: Keyfile,
    pub(super) text: String,
}

/// All that one machine gets.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Ready {
    pub(super) profiles: Vec<Final>,
    pub(super) files: Vec<SystemFile>,
    /// The cards of its documents.
    pub(super) cards: Vec<Card>,
    /// The line for the log.
    pub(super) told: String,
}

impl Ready {
    /// Without the line.
    pub(super) fn of(configuration: Configuration, names: &Names) -> Self {
        let profiles = configuration.profiles.into_iter().map(|profile| Final {
            file_name: profile.file_name(),
            text: profile.keyfile.render(),
            keyfile: profile.keyfile,
        });
        Self {
            profiles: profiles.collect(),
            files: configuration.files,
            cards: names.present.clone(),
            told: String::new(),
        }
    }

    /// Adds another host's part; returns the file name of a profile that differs in both.
    pub(super) fn add(&mut self, other: Self) -> Option<String> {
        for profile in other.profiles {
            match self.profiles.iter().find(|known| known.file_name == profile.file_name) {
                Some(known) if known.text != profile.text => return Some(profile.file_name),
                Some(_) => {}
                None => self.profiles.push(profile),
            }
        }
        self.files.extend(other.files);
        self.cards.extend(other.cards);
        None
    }

    /// The document's `hostname.config`.
    pub(super) fn host_name(&self) -> Option<&str> {
        let file = self.files.iter().find(|file| file.path == "etc/hostname")?;
        Some(file.content.trim_end())
    }
}

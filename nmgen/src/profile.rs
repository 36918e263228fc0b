//! From a document to connection profiles that are safe to write.

mod carry;
mod keyfile;
mod repair;
mod verify;

pub use self::keyfile::{Keyfile, Section};
pub(crate) use self::verify::{PROFILE_MISSING, ROUTE_RULE_LOST, UNSAFE_PROFILE};

use crate::diagnostic::{Diagnostic, Place, Rule};
use crate::document::Document;
use crate::state::{Refusal, State};

pub(crate) const COPY_MAC_FROM: Rule = Rule::warning("copy-mac-from-unknown");
pub(crate) const ALT_NAMES: Rule = Rule::warning("alt-names-without-mac");

/// What can be found only by converting.
pub(crate) const RULES: &[Rule] =
    &[COPY_MAC_FROM, ALT_NAMES, UNSAFE_PROFILE, PROFILE_MISSING, ROUTE_RULE_LOST];

/// A NetworkManager connection profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// `connection.id`; also the file name without `.nmconnection`, so it holds no separator.
    pub id: String,
    /// Its sections and keys.
    pub keyfile: Keyfile,
}

impl Profile {
    /// `<id>.nmconnection`.
    pub fn file_name(&self) -> String {
        format!("{}.nmconnection", self.id)
    }
}

/// A file beside the profiles that carries what a profile cannot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemFile {
    /// Relative to the root file system, e.g. `etc/hostname`.
    pub path: String,
    /// Its text.
    pub content: String,
    /// The field that asked for it, e.g. `hostname.config`.
    pub field: String,
    /// Where that field stands.
    pub place: Place,
}

/// Everything that one document becomes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Configuration {
    /// In nmstate's order: controllers before their ports.
    pub profiles: Vec<Profile>,
    /// Files beside the profiles, in the order of their paths.
    pub files: Vec<SystemFile>,
}

/// Converts a document that has passed the checks.
///
/// # Errors
/// nmstate's refusal in its own words.
pub(crate) fn convert(
    document: &Document<'_>,
    mut state: State,
    diagnostics: &mut Vec<Diagnostic>,
) -> Result<Configuration, Refusal> {
    let interfaces = state.interfaces();
    carry::copy_mac_from(document, &mut state, &interfaces, diagnostics);
    let mut profiles = Vec::new();
    let (generated, rules_missing) = repair::generate(&state)?;
    for generated in generated {
        match verify::profile(&generated) {
            Ok(profile) => profiles.push(profile),
            Err(reason) => diagnostics.push(verify::unsafe_profile(document, &generated, &reason)),
        }
    }
    repair::all(&mut profiles);
    if rules_missing > 0 {
        diagnostics.push(verify::rules_lost(document, rules_missing));
    }
    verify::all_there(document, &interfaces, &profiles, diagnostics);
    Ok(Configuration { profiles, files: carry::files(document, &state, &interfaces, diagnostics) })
}

//! Checks the document of one host, and converts it.

use nmgen_document::Document;
use nmgen_document::diagnostic::Diagnostics;

use crate::check::{self, Facts, Purpose};
use crate::profile::{self, Configuration};
use crate::source::Host;
use crate::state::State;

/// A host that was checked and converted.
pub struct Checked<'h> {
    /// The document's diagnostics.
    pub diagnostics: Diagnostics,
    /// The facts that hosts are compared by.
    pub facts: Facts<'h>,
    /// Profiles and files; empty after an error, and with [`Purpose::Apply`].
    pub configuration: Configuration,
}

/// Checks and converts a host's document.
pub fn convert(host: &Host, purpose: Purpose) -> Checked<'_> {
    let mut diagnostics = Diagnostics::default();
    let facts = check::facts(host);
    let Some(document) = host.document() else {
        return Checked { diagnostics, facts, configuration: Configuration::default() };
    };
    let cards: Vec<&str> = host.nics.iter().filter_map(|nic| nic.name.as_deref()).collect();
    let state = check::document(document, &cards, purpose, &mut diagnostics);
    let configuration = match (state, purpose) {
        (Some(state), Purpose::Offline | Purpose::HandedOn) => {
            converted(document, state, &mut diagnostics)
        }
        (None, _) | (Some(_), Purpose::Apply) => Configuration::default(),
    };
    diagnostics.of_host(host.name.as_deref());
    Checked { diagnostics, facts, configuration }
}

/// The configuration of a host that is the only one. The diagnostics, with those of its source, are sorted.
pub fn convert_alone(host: &Host, mut diagnostics: Diagnostics) -> (Configuration, Diagnostics) {
    let mut checked = convert(host, Purpose::Offline);
    check::cluster(host, &checked.facts, &mut checked.diagnostics);
    diagnostics.merge(checked.diagnostics);
    (checked.configuration, diagnostics)
}

fn converted(
    document: &Document<'_>,
    state: State,
    diagnostics: &mut Diagnostics,
) -> Configuration {
    // nmstate would repeat the checks' errors in its own words and without a place.
    let has_errors = diagnostics.has_errors();
    let mut found = Diagnostics::default();
    let configuration = match profile::convert(document, state, &mut found) {
        Ok(configuration) => configuration,
        Err(_) if has_errors => Configuration::default(),
        Err(refusal) => {
            found.extend(check::refusal(document, &refusal));
            Configuration::default()
        }
    };
    diagnostics
        .extend(found.into_iter().filter(|diagnostic| !(has_errors && diagnostic.is_error())));
    configuration
}

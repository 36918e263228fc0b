//! Every rule.

use nmgen_core::profile;
use nmgen_document::diagnostic::Rule;

use crate::{allow, changes, check, derive, missing_host, output, source};

/// Every rule of every stage, each once.
pub fn rules() -> Vec<Rule> {
    [
        source::rules(),
        nmgen_document::rules(),
        derive::rules(),
        nmgen_core::check::rules(),
        check::rules(),
        profile::rules(),
        output::rules(),
        changes::RULES.to_vec(),
        allow::RULES.to_vec(),
        missing_host::RULES.to_vec(),
    ]
    .concat()
}

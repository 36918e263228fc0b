//! Every rule.

use crate::diagnostic::Rule;
use crate::{check, derive, document, output, profile, source};

/// Every rule of every stage, each once.
pub fn rules() -> Vec<Rule> {
    [
        source::rules(),
        document::rules(),
        derive::rules(),
        check::rules(),
        profile::rules(),
        output::rules(),
    ]
    .concat()
}

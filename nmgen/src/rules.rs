//! Every rule.

#[cfg(feature = "pipelines")]
use crate::derive;
use crate::diagnostic::Rule;
use crate::{check, document, output, profile, source};

/// Every rule of every stage, each once.
pub fn rules() -> Vec<Rule> {
    [
        source::rules(),
        document::rules(),
        #[cfg(feature = "pipelines")]
        derive::rules(),
        check::rules(),
        profile::rules(),
        output::rules(),
    ]
    .concat()
}

//! What a configuration is written as.

mod gc;
mod keyfiles;

pub use self::gc::render as gc;
pub use self::keyfiles::{File, files};

use crate::diagnostic::{Diagnostic, Rule};
use crate::pipeline::Outcome;

const NOT_IN_TARGET: Rule = Rule::warning("not-in-target");
pub(crate) const NO_SUCH_HOST: Rule = Rule::error("no-such-host");
pub(crate) const ONE_HOST_ONLY: Rule = Rule::error("one-host-only");

/// What a target cannot carry.
pub(crate) const RULES: &[Rule] = &[NOT_IN_TARGET, NO_SUCH_HOST, ONE_HOST_ONLY];

/// The forms of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// NetworkManager keyfiles in a directory, with the files beside them.
    Keyfiles,
    /// The YAML of `nmstatectl gc`: keyfiles only.
    Gc,
}

impl Target {
    /// What this target leaves out of a configuration that holds it.
    pub fn losses(self, outcome: &Outcome) -> Vec<Diagnostic> {
        match self {
            Self::Keyfiles => Vec::new(),
            Self::Gc => {
                outcome.hosts.iter().flat_map(|host| &host.configuration.files).map(loss).collect()
            }
        }
    }
}

fn loss(file: &crate::profile::SystemFile) -> Diagnostic {
    let message = format!("{} is not in the output of gc", file.field);
    Diagnostic::new(NOT_IN_TARGET, message, file.place.clone())
        .help(format!("generate --to keyfiles carries it as {}", file.path))
}

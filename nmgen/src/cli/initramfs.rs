//! The command line of the initramfs program: documents and hosts directories in, profiles out.

use clap::{Args, ValueEnum};

use crate::error::Error;
use crate::output::{Form, Options};

/// The help text of SOURCE.
pub(super) const SOURCE: &str = "\
An NMState document (YAML or JSON), '-' for standard input, or a
directory with <hostname>.yml files and cluster.yml";

/// No further examples of `generate`.
pub(super) const EXAMPLES: &str = "";

/// The forms of output by their names on the command line.
#[allow(rustdoc::invalid_html_tags, reason = "these are help texts")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum To {
    /// One <id>.nmconnection file a profile
    Keyfiles,
    /// The YAML that `nmstatectl gc` prints
    Gc,
    /// The documents, one <host>.yml a host
    Hosts,
}

impl From<To> for Form {
    fn from(to: To) -> Self {
        match to {
            To::Keyfiles => Self::Keyfiles,
            To::Gc => Self::Gc,
            To::Hosts => Self::Hosts,
        }
    }
}

/// No form has options.
#[derive(Debug, Clone, Args)]
pub(super) struct FormArguments {}

impl FormArguments {
    pub(super) fn verify(&self, _: To) -> Result<(), String> {
        Ok(())
    }

    pub(super) fn options(&self) -> Result<Options, Error> {
        Ok(Options::default())
    }
}

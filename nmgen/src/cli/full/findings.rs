//! The arguments of `check` that choose findings.

use clap::{Args, ValueEnum};

use super::explain;
use crate::convert;
use crate::diagnostic::{Diagnostics, Severity};
use crate::source::Hosts;

#[derive(Debug, Args)]
pub(crate) struct FindingArguments {
    /// The use of documents whose source does not tell it
    #[arg(long = "for", value_enum, value_name = "USE", default_value_t = Use::Profiles)]
    wanted: Use,
    /// Do not tell the warnings of this rule; repeatable
    #[arg(long, value_name = "RULE", value_parser = warning)]
    allow: Vec<String>,
}

/// The uses of a document by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Use {
    /// Profiles, made without the node: also tells fields without effect there
    Profiles,
    /// Application on the node, by dayone or by nmstate
    Node,
}

impl FindingArguments {
    /// The findings.
    pub(crate) fn of(&self, hosts: &Hosts) -> Diagnostics {
        let mut found = match self.wanted {
            Use::Profiles => convert::diagnose(hosts),
            Use::Node => convert::check(hosts),
        };
        found.retain(|it| it.is_error() || !self.allow.iter().any(|name| name == it.rule.name));
        found
    }
}

fn warning(name: &str) -> Result<String, String> {
    let rules = crate::rules();
    match rules.iter().find(|rule| rule.name == name).map(|rule| rule.severity) {
        Some(Severity::Warning) => Ok(name.to_owned()),
        Some(Severity::Error) => Err("its findings are errors".to_owned()),
        None => Err(explain::unknown(name)),
    }
}

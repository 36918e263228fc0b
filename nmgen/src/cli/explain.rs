//! `nmgen explain`: the documentation's section of a rule.

use clap::Args;
use nmgen_document::diagnostic::Rule;
use nmgen_document::error::Error;
use nmgen_document::spelling::is_alike;

use crate::cli::done::Done;
use crate::cli::streams::Streams;

/// The checks with their examples, one section a rule.
const CHECKS: &str = include_str!("../../doc/checks.md");

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The name in brackets of a finding [default: list all rules]
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

pub(super) fn run(arguments: &ExplainArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let Some(name) = &arguments.rule else {
        streams.text(&list())?;
        return Ok(Done::Success);
    };
    // Pasted from a finding, the name has its brackets.
    let name = name.trim_matches(['[', ']']);
    match section(name) {
        Some(section) => {
            streams.text(section)?;
            Ok(Done::Success)
        }
        None => {
            streams.note(&format!("nmgen: {}", unknown(name)));
            Ok(Done::InputWrong)
        }
    }
}

/// The section below the rule's heading, heading included.
fn section(name: &str) -> Option<&'static str> {
    let heading = format!("### {name}\n");
    let start = CHECKS.find(&heading)?;
    let rest = &CHECKS[start..];
    let end = rest[heading.len()..].find("\n##").map_or(rest.len(), |end| heading.len() + end);
    Some(&rest[..end])
}

/// Every rule with its severity.
fn list() -> String {
    let mut rules = nmgen_fleet::rules();
    rules.sort_by_key(|rule| rule.name);
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    let line = |rule: &Rule| format!("{:width$}  {}\n", rule.name, rule.severity);
    rules.iter().map(line).collect()
}

/// The message about a name that no rule has.
pub(super) fn unknown(name: &str) -> String {
    let rules = nmgen_fleet::rules();
    let near = rules.iter().find(|rule| is_alike(name, rule.name) || rule.name.contains(name));
    match near {
        Some(rule) => format!("there is no rule {name}; did you mean {}?", rule.name),
        None => format!("there is no rule {name}; `nmgen explain` lists all"),
    }
}

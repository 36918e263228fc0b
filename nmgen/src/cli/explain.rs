//! `nmgen explain`: the documentation's section of a rule.

use clap::{Args, ValueEnum};
use nmgen_document::diagnostic::Rule;
use nmgen_document::error::Error;
use nmgen_document::spelling::is_alike;

use serde_json::{Value, json};

use crate::cli::done::Done;
use crate::cli::streams::Streams;

/// The checks with their examples, one section a rule.
const CHECKS: &str = include_str!("../../doc/checks.md");

#[derive(Debug, Args)]
pub(crate) struct ExplainArguments {
    /// The form of the explanation
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ExplainForm::Text)]
    format: ExplainForm,
    /// The name in brackets of a finding [default: list all rules]
    #[arg(value_name = "RULE")]
    rule: Option<String>,
}

/// The forms of explanations by their names on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExplainForm {
    /// For people, in Markdown
    Text,
    /// One object with the rules
    Json,
}

pub(super) fn run(arguments: &ExplainArguments, streams: &mut Streams<'_>) -> Result<Done, Error> {
    let Some(name) = &arguments.rule else {
        streams.text(&match arguments.format {
            ExplainForm::Text => list(),
            ExplainForm::Json => json(&sorted()),
        })?;
        return Ok(Done::Success);
    };
    // Pasted from a finding, the name has its brackets.
    let name = name.trim_matches(['[', ']']);
    match section(name) {
        Some(section) => {
            let rules = nmgen_fleet::rules().into_iter().filter(|rule| rule.name == name);
            streams.text(&match arguments.format {
                ExplainForm::Text => section.to_owned(),
                ExplainForm::Json => json(&rules.take(1).collect::<Vec<_>>()),
            })?;
            Ok(Done::Success)
        }
        None => {
            streams.refuse(&unknown(name));
            Ok(Done::InputWrong)
        }
    }
}

/// The section below the rule's heading, heading included.
pub(super) fn section(name: &str) -> Option<&'static str> {
    let heading = format!("### {name}\n");
    let start = CHECKS.find(&heading)?;
    let rest = &CHECKS[start..];
    let end = rest[heading.len()..].find("\n##").map_or(rest.len(), |end| heading.len() + end);
    Some(&rest[..end])
}

/// The first sentence of a section, behind heading, severity and scope, on one line.
pub(super) fn summary(section: &str) -> String {
    const WORDS: [&str; 3] = ["Error. ", "Warning. ", "Offline. "];
    let text = section.split("\n\n").nth(1).unwrap_or_default().replace('\n', " ");
    let mut text = text.trim();
    while let Some(rest) = WORDS.iter().find_map(|word| text.strip_prefix(word)) {
        text = rest;
    }
    // Dots within code are no end.
    let is_end = |at: &usize| {
        let next = text[at + 2..].chars().next();
        next.is_some_and(|next| next.is_uppercase() || next == '`' || next.is_ascii_digit())
    };
    let end = text.match_indices(". ").map(|(at, _)| at).find(is_end);
    end.map_or(text, |end| &text[..=end]).to_owned()
}

/// `nmgen/doc/explain.schema.json` describes it.
fn json(rules: &[Rule]) -> String {
    let one = |rule: &Rule| {
        let text = section(rule.name).unwrap_or_default();
        json!({
            "name": rule.name,
            "severity": rule.severity.to_string(),
            "summary": summary(text),
            "text": text,
        })
    };
    let rules: Vec<Value> = rules.iter().map(one).collect();
    let all = json!({ "schema": 1, "version": env!("CARGO_PKG_VERSION"), "rules": rules });
    crate::cli::json::text(&all)
}

fn sorted() -> Vec<Rule> {
    let mut rules = nmgen_fleet::rules();
    rules.sort_by_key(|rule| rule.name);
    rules
}

/// Every rule with its severity.
fn list() -> String {
    let rules = sorted();
    let width = rules.iter().map(|rule| rule.name.len()).max().unwrap_or_default();
    rules.iter().map(|rule| format!("{:width$}  {}\n", rule.name, rule.severity)).collect()
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

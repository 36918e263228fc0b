//! Warnings that the author of a file allows, each with the reason: `# nmgen: allow RULE: why`, at the end of a line or alone
//! above it.

use std::collections::HashMap;
use std::sync::Arc;

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, Severity, rules};
use nmgen_document::spelling;
use nmgen_document::text::lines::Lines;
use nmgen_document::text::{Position, Source, Span};

rules! {
    warning ALLOW_UNUSED = "allow-unused";
    warning ALLOW_WITHOUT_REASON = "allow-without-reason";
}

const MARK: &str = "nmgen: allow ";
const FORM: &str = "the form is `# nmgen: allow RULE: why`";

/// Comments of a file: a repository has a few.
const MOST: usize = 1_000;

/// A comment that allows the warnings of rules at a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    rules: Vec<String>,
    reason: String,
    /// The line of the findings, from 1.
    line: u32,
    /// The comment's place.
    place: Place,
}

/// A warning that its author allows.
#[derive(Debug, Clone, PartialEq)]
pub struct Suppressed {
    /// The warning.
    pub diagnostic: Diagnostic,
    /// The author's reason; empty without one.
    pub reason: String,
}

/// Findings of sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Findings {
    /// Sorted by file, line and column.
    pub told: Diagnostics,
    /// The warnings that comments allow.
    pub suppressed: Vec<Suppressed>,
    /// By allowance and its rule: whether there was such a finding.
    used: Vec<Vec<bool>>,
}

/// The comments of a file.
pub(crate) fn read(source: &Source) -> Vec<Allowance> {
    if !source.text.contains(MARK) {
        return Vec::new();
    }
    let lines = Lines::new(source);
    let mut found: Vec<Allowance> = Vec::new();
    for (number, line) in lines.numbered() {
        let Some((start, text)) = comment(line) else { continue };
        if found.len() == MOST {
            break;
        }
        let (names, reason) = text.split_once(':').unwrap_or((text, ""));
        let names = names.split(',').map(str::trim).filter(|name| !name.is_empty());
        let column = line[..start].chars().count() as u32 + 1;
        let at = |column| Position { line: number, column };
        let end = at(column + line[start..].trim_end().chars().count() as u32);
        let is_alone = line[..start].trim().is_empty();
        found.push(Allowance {
            rules: names.map(str::to_owned).collect(),
            reason: reason.trim().to_owned(),
            line: if is_alone { number + 1 } else { number },
            place: lines.place(Span { start: at(column), end }),
        });
    }
    // Each of several comments above a line is about it.
    for index in (1..found.len()).rev() {
        let next = (found[index].place.line(), found[index].line);
        if Some(found[index - 1].line) == next.0 && Some(next.1) != next.0 {
            found[index - 1].line = next.1;
        }
    }
    found
}

/// The byte at which a line's comment begins, and what it says behind the mark.
fn comment(line: &str) -> Option<(usize, &str)> {
    let is_comment = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let starts = line.match_indices('#').map(|(at, _)| at).filter(is_comment);
    starts.filter_map(|at| Some((at, line[at + 1..].trim_start().strip_prefix(MARK)?))).next()
}

/// Takes out what the comments allow. Errors are always told.
pub(crate) fn apply(found: Diagnostics, allowances: &[Allowance]) -> Findings {
    let mut used: Vec<Vec<bool>> =
        allowances.iter().map(|allowance| vec![false; allowance.rules.len()]).collect();
    if allowances.is_empty() {
        return Findings { told: found, used, ..Findings::default() };
    }
    let mut by_line: HashMap<(&Arc<str>, u32), Vec<usize>> = HashMap::new();
    for (index, allowance) in allowances.iter().enumerate() {
        by_line.entry((&allowance.place.file, allowance.line)).or_default().push(index);
    }
    let (mut told, mut suppressed) = (Diagnostics::default(), Vec::new());
    for diagnostic in found {
        let place = &diagnostic.place;
        // A finding about a whole file is at its first line.
        let line = place.position.as_ref().map_or(1, |at| at.start.line);
        let at = by_line.get(&(&place.file, line)).filter(|_| !diagnostic.is_error());
        let named = at.into_iter().flatten().find_map(|index| {
            let rule = |name: &String| name == diagnostic.rule.name;
            Some((*index, allowances[*index].rules.iter().position(rule)?))
        });
        match named {
            Some((index, rule)) => {
                used[index][rule] = true;
                let reason = allowances[index].reason.clone();
                suppressed.push(Suppressed { diagnostic, reason });
            }
            None => told.push(diagnostic),
        }
    }
    Findings { told, suppressed, used }
}

impl Findings {
    /// Adds what is wrong with the comments, by all rules that there are. `is_whole`: every finding of the sources is there, so
    /// that a comment without one is of no use.
    pub(crate) fn with_comments(
        mut self,
        allowances: &[Allowance],
        rules: &[Rule],
        is_whole: bool,
    ) -> Self {
        if allowances.is_empty() {
            return self;
        }
        // A missing finding may be told once the errors are mended.
        let is_whole = is_whole && !self.told.has_errors();
        let about = |(allowance, used): (&Allowance, &Vec<bool>)| {
            let unused = allowance.rules.iter().zip(used).filter(|(_, used)| !**used);
            let wrong = unused.filter_map(|(name, _)| fault(name, rules, is_whole)).next();
            let (rule, message, help) = match wrong {
                Some((message, help)) => (ALLOW_UNUSED, message, help),
                None if allowance.rules.is_empty() => {
                    (ALLOW_UNUSED, "this names no rule".to_owned(), FORM.to_owned())
                }
                None if allowance.reason.is_empty() => {
                    let names = allowance.rules.join(", ");
                    let message = format!("{names} is allowed without a reason");
                    (ALLOW_WITHOUT_REASON, message, FORM.to_owned())
                }
                None => return None,
            };
            Some(Diagnostic::new(rule, message, allowance.place.clone()).help(help))
        };
        let comments: Diagnostics = allowances.iter().zip(&self.used).filter_map(about).collect();
        self.told.merge(comments);
        self
    }
}

/// The reason why a name without a finding is there in vain, and the remedy.
fn fault(name: &str, rules: &[Rule], is_whole: bool) -> Option<(String, String)> {
    let name = name.escape_debug().to_string();
    match rules.iter().find(|rule| rule.name == name) {
        Some(rule) if rule.severity == Severity::Error => {
            let message = format!("the findings of {name} are errors, which are always told");
            Some((message, "mend the error, and remove the comment".to_owned()))
        }
        Some(_) => is_whole.then(|| {
            let message = format!("there is no finding of {name} here");
            let help = "a comment is about its own line, or about the one below if it stands alone";
            (message, help.to_owned())
        }),
        None => {
            let near = rules.iter().find(|rule| spelling::is_alike(&name, rule.name));
            let help = near.map_or_else(
                || "`nmgen explain` lists all rules".to_owned(),
                |rule| format!("did you mean {}?", rule.name),
            );
            Some((format!("there is no rule {name}"), help))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_about_its_line_or_the_one_below() {
        let text = "a: 1 # nmgen: allow x: why\n# nmgen: allow y, z: why: so\n  #nmgen: allow w\nb: 2\n\
                    c: \"# nmgen:allow\"\nd: a#nmgen: allow v: why\n";
        let source = Source { name: "a.yml".into(), text: text.into() };
        let found = read(&source);
        let shown = |allowance: &Allowance| {
            (allowance.rules.join(" "), allowance.line, allowance.reason.clone())
        };
        let expected = [("x", 1, "why"), ("y z", 4, "why: so"), ("w", 4, "")];
        let expected = expected.map(|(rules, line, reason)| (rules.into(), line, reason.into()));
        assert_eq!(found.iter().map(shown).collect::<Vec<_>>(), expected);
    }
}

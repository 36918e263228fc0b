//! `nmgen diff`.

use super::arguments::DiffArguments;
use super::check::verdict;
use super::{Done, output};
use crate::diff::{self, Change, HostChange};
use crate::error::Error;
use crate::source;

pub(super) fn run(arguments: &DiffArguments) -> Result<Done, Error> {
    let old = source::load(&[&arguments.old])?;
    let new = source::load(&[&arguments.new])?;
    let diagnostics = [old.diagnostics.as_slice(), &new.diagnostics].concat();
    output::diagnostics(&diagnostics);
    let text: String = diff::compare(&old, &new).iter().map(shown).collect();
    output::text(&text)?;
    Ok(verdict(&diagnostics, false))
}

fn shown(changed: &HostChange) -> String {
    let host = changed.host.as_deref().unwrap_or("the document");
    match &changed.change {
        Change::Added => format!("{host}: added\n"),
        Change::Removed => format!("{host}: removed\n"),
        Change::Document(lines) => {
            let lines: String = lines.iter().map(|line| format!("  {line}\n")).collect();
            format!("{host}:\n{lines}")
        }
    }
}

//! `nmgen diff`.

use super::arguments::DiffArguments;
use super::done::{Done, verdict};
use super::streams;
use crate::changes::{self, Change, HostChange};
use crate::error::Error;
use crate::source;

pub(super) fn run(arguments: &DiffArguments) -> Result<Done, Error> {
    let old = source::load(&[&arguments.old])?;
    let new = source::load(&[&arguments.new])?;
    let mut diagnostics = old.diagnostics.clone();
    diagnostics.extend(new.diagnostics.clone());
    streams::diagnostics(&diagnostics);
    let text: String = changes::compare(&old, &new).iter().map(shown).collect();
    streams::text(&text)?;
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

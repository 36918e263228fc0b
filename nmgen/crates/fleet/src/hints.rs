//! Remedies that show in the text at a finding's place: a character that looks like another one, brackets around a value.

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place};

use crate::confusable;

/// The findings, with these remedies in place of others.
pub(crate) fn add(found: Diagnostics) -> Diagnostics {
    found.into_iter().map(one).collect()
}

fn one(finding: Diagnostic) -> Diagnostic {
    let Some(text) = marked(&finding.place) else { return finding };
    // A finding about the character itself is at nothing else.
    if let Some((character, kind)) = confusable::find(&text).filter(|_| text.chars().count() > 1) {
        let code = u32::from(character);
        return finding.help(format!("the text has U+{code:04X}, {kind}: write it again"));
    }
    let is_list = finding.message.contains("a list, where") && finding.help.is_none();
    let help = brackets(&finding.place).map(|value| format!("write {value} without brackets"));
    match help.filter(|_| is_list) {
        Some(help) => finding.help(help),
        None => finding,
    }
}

/// The characters that are underlined.
fn marked(place: &Place) -> Option<String> {
    let excerpt = place.decoded.as_ref().or(place.position.as_ref())?;
    let (from, to) = (excerpt.marked.start as usize, excerpt.marked.end as usize);
    Some(excerpt.line.chars().take(to).skip(from).collect())
}

/// The one value between the brackets that end the line.
fn brackets(place: &Place) -> Option<&str> {
    let line = place.decoded.as_ref().or(place.position.as_ref())?.line.trim_end();
    let (_, value) = line.strip_suffix(']')?.rsplit_once('[')?;
    (!value.is_empty() && !value.contains([',', ' ', ']'])).then_some(value)
}

//! Differences for people.

use std::collections::HashMap;
use std::fmt::Write;

use nmgen_core::difference;
use nmgen_core::source::Stage;
use nmgen_document::diagnostic::Style;
use nmgen_document::format::{counted, printable};
use nmgen_fleet::changes::{Change, HostChange};

/// A change of more hosts than this is shown once.
const MOST_ALIKE: usize = 3;

/// [`text`] in the colours of its signs.
pub(super) fn painted(changes: &[HostChange], style: Style) -> String {
    let plain = text(changes);
    plain.lines().map(|line| difference::painted(line, style) + "\n").collect()
}

/// Each host with its changes. A change that more than [`MOST_ALIKE`] hosts have is shown at the first of them.
fn text(changes: &[HostChange]) -> String {
    let lines: Vec<Vec<String>> = changes.iter().map(lines).collect();
    let mut hosts: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, lines) in lines.iter().enumerate() {
        for line in lines {
            let known = hosts.entry(line).or_default();
            if known.last() != Some(&index) {
                known.push(index);
            }
        }
    }
    let mut text = String::new();
    for (index, (changed, own)) in changes.iter().zip(&lines).enumerate() {
        let shown = own.iter().filter(|line| {
            let of = &hosts[line.as_str()];
            of.len() <= MOST_ALIKE || of.first() == Some(&index)
        });
        let shown: Vec<&String> = shown.collect();
        if shown.is_empty() {
            continue;
        }
        let title = title(changed);
        match changed.change {
            Change::Added | Change::Removed => {}
            Change::Changed { .. } => {
                let _ = writeln!(text, "{title}:");
            }
        }
        for (position, line) in shown.iter().enumerate() {
            match changed.change {
                Change::Added | Change::Removed => {
                    let _ = writeln!(text, "{title}: {line}");
                }
                Change::Changed { .. } => {
                    let _ = writeln!(text, "  {line}");
                }
            }
            let of = &hosts[line.as_str()];
            let next = shown.get(position + 1).map(|next| &hosts[next.as_str()]);
            // Lines of the same hosts get one note.
            if of.len() > MOST_ALIKE && next != Some(of) {
                let more = counted(of.len() - 1, "more host");
                let next = self::title(&changes[of[1]]);
                let _ = writeln!(text, "  = and {more}, the next is {next}");
            }
        }
    }
    text
}

fn lines(changed: &HostChange) -> Vec<String> {
    match &changed.change {
        Change::Added => vec!["added".to_owned()],
        Change::Removed => vec!["removed".to_owned()],
        Change::Changed { .. } => changed.change.lines(),
    }
}

/// The host, with role, stage and policy where it has several documents.
fn title(changed: &HostChange) -> String {
    let mut title = changed.host.clone().unwrap_or_else(|| "the document".to_owned());
    if let Some(cluster) = &changed.cluster {
        title.insert_str(0, &format!("{cluster}: "));
    }
    if changed.has_others {
        let role = changed.role.as_ref().map(|role| format!("role {role}"));
        let stage = match changed.stage {
            Stage::Early => Some("early".to_owned()),
            Stage::Node => Some("running node".to_owned()),
            Stage::Any => None,
        };
        let policy = changed.policy.as_ref().map(|name| format!("policy {name}"));
        for part in [role, stage.filter(|_| policy.is_none()), policy].into_iter().flatten() {
            let _ = write!(title, ", {part}");
        }
    }
    printable(&title)
}

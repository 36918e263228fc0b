//! Mistakes that people make in NMState documents, made in a text one at a time.

pub mod written;

/// A document with one mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// The kind of mistake.
    pub kind: &'static str,
    /// The line of the mistake, from 1.
    pub line: usize,
    /// The document's text with the mistake.
    pub text: String,
}

/// A line of YAML in block style: indentation, an optional dash, an optional key.
struct Line<'t> {
    text: &'t str,
    indent: usize,
    dash: bool,
    key: Option<&'t str>,
    value: &'t str,
}

impl<'t> Line<'t> {
    fn new(text: &'t str) -> Self {
        let body = text.trim_start();
        let indent = text.len() - body.len();
        let dash = body.starts_with("- ");
        let rest = body.strip_prefix("- ").unwrap_or(body);
        let is_key = |key: &&str| {
            !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let (key, value) = match rest.split_once(':') {
            Some((key, value)) if value.is_empty() || value.starts_with(' ') => {
                (Some(key).filter(is_key), value.trim())
            }
            _ => (None, rest),
        };
        Self { text, indent, dash, key, value }
    }

    /// The column of its key: keys of one mapping share it.
    fn column(&self) -> usize {
        self.indent + if self.dash { 2 } else { 0 }
    }

    fn is_blank(&self) -> bool {
        let body = self.text.trim_start();
        body.is_empty() || body.starts_with('#') || body == "---"
    }
}

/// The mistakes of one kind, at most `most`, spread over the document.
type Kind = fn(&[Line<'_>], usize) -> Option<Vec<String>>;

const KINDS: &[(&str, Kind)] = &[
    ("key misspelt", misspelt),
    ("one level down", one_level_down),
    ("one level up", one_level_up),
    ("list for a mapping", list_for_mapping),
    ("quote lost", quote_lost),
    ("tab", tab),
    ("dash lost", dash_lost),
];

/// Each kind of mistake at up to `most` lines of the text.
pub fn mistakes(text: &str, most: usize) -> Vec<Mistake> {
    let lines: Vec<Line<'_>> = text.lines().map(Line::new).collect();
    let mut all = Vec::new();
    for (kind, make) in KINDS {
        let made: Vec<Mistake> = (0..lines.len())
            .filter(|at| !lines[*at].is_blank())
            .filter_map(|at| {
                let text = make(&lines, at)?.join("\n") + "\n";
                Some(Mistake { kind, line: at + 1, text })
            })
            .collect();
        let step = made.len().div_ceil(most).max(1);
        all.extend(made.into_iter().skip(step / 2).step_by(step));
    }
    all
}

fn owned(lines: &[Line<'_>]) -> Vec<String> {
    lines.iter().map(|line| line.text.to_owned()).collect()
}

/// The end of the block below a line: the first line that is not deeper.
fn end_of_block(lines: &[Line<'_>], at: usize) -> usize {
    let column = lines[at].column();
    let is_outside = |line: &Line<'_>| {
        !line.is_blank() && line.indent <= column && !(line.indent == column && line.dash)
    };
    let after = lines[at + 1..].iter().position(is_outside);
    after.map_or(lines.len(), |after| at + 1 + after)
}

/// Two letters change places.
fn misspelt(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let key = lines[at].key.filter(|key| key.len() >= 4)?;
    let middle = key.len() / 2;
    let (a, b) = (key.as_bytes()[middle - 1], key.as_bytes()[middle]);
    if a == b || !a.is_ascii_lowercase() || !b.is_ascii_lowercase() {
        return None;
    }
    let swapped = format!("{}{}{}{}", &key[..middle - 1], b as char, a as char, &key[middle + 1..]);
    let mut all = owned(lines);
    all[at] = lines[at].text.replacen(key, &swapped, 1);
    Some(all)
}

/// A key becomes part of the block above it.
fn one_level_down(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    line.key.filter(|_| !line.dash)?;
    let above = lines[..at].iter().rev().find(|line| !line.is_blank())?;
    // The block above is a mapping, whose keys are deeper.
    let deeper = above.column().checked_sub(line.column()).filter(|by| *by > 0)?;
    above.key?;
    Some(moved(lines, at, |text| format!("{}{text}", " ".repeat(deeper))))
}

/// The last key of a mapping becomes part of the mapping around it.
fn one_level_up(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    line.key.filter(|_| !line.dash)?;
    let next = lines.get(end_of_block(lines, at));
    let is_last = next
        .is_none_or(|next| next.column() < line.column() || next.dash && next.indent < line.indent);
    let around = lines[..at].iter().rev().find(|l| !l.is_blank() && l.column() < line.column())?;
    around.key.filter(|_| is_last && around.value.is_empty())?;
    let by = line.column() - around.column();
    Some(moved(lines, at, |text| text.get(by..).unwrap_or(text.trim_start()).to_owned()))
}

fn moved(lines: &[Line<'_>], at: usize, change: impl Fn(&str) -> String) -> Vec<String> {
    let block = at..end_of_block(lines, at);
    let mut all = owned(lines);
    for line in &mut all[block] {
        *line = change(line);
    }
    all
}

/// The mapping below a key becomes a list's item.
fn list_for_mapping(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    let below = lines.get(at + 1).filter(|below| !below.is_blank() && !below.dash)?;
    line.key.filter(|_| line.value.is_empty() && below.column() > line.column())?;
    below.key?;
    let mut all = owned(lines);
    for (index, text) in all.iter_mut().enumerate().take(end_of_block(lines, at)).skip(at + 1) {
        let lead = if index == at + 1 { "- " } else { "  " };
        text.insert_str(below.indent.min(text.len()), lead);
    }
    Some(all)
}

/// A quoted value loses its last quote; a plain one gets a first one.
fn quote_lost(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    let value = line.key.map(|_| line.value)?;
    let first = value.chars().next()?;
    let text = match first {
        '"' | '\'' if value.len() > 2 && value.ends_with(first) => {
            line.text.trim_end().strip_suffix(first)?.to_owned()
        }
        first if first.is_ascii_alphanumeric() && !value.contains(" #") => {
            let start = line.text.rfind(value)?;
            format!("{}\"{value}", &line.text[..start])
        }
        _ => return None,
    };
    let mut all = owned(lines);
    all[at] = text;
    Some(all)
}

/// A tab stands for the indentation.
fn tab(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    line.key.filter(|_| line.indent > 0)?;
    let mut all = owned(lines);
    all[at] = format!("\t{}", line.text.trim_start());
    Some(all)
}

fn dash_lost(lines: &[Line<'_>], at: usize) -> Option<Vec<String>> {
    let line = &lines[at];
    line.key.filter(|_| line.dash)?;
    let mut all = owned(lines);
    all[at] = line.text.replacen("- ", "  ", 1);
    Some(all)
}

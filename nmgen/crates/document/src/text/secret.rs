//! Secrets in a text: a diagnostic shows [`HIDDEN`] in their place, whatever it is written to.
//!
//! A text need not be valid for that: its events are read up to the first fault, and lines behind it by their words.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Marks};

use super::{Position, Span, lines};
use crate::format::printable;

/// The words in a secret's place.
pub const HIDDEN: &str = "<hidden>";

/// The first letters of a token in place of the digest of a text with secrets.
pub const TOKEN: &str = "hidden-";

/// The fields below an interface that nmstate hides in output; a test compares them with the crate's own.
pub const FIELDS: &[[&str; 2]] = &[
    ["802.1x", "password"],
    ["802.1x", "private-key-password"],
    ["libreswan", "psk"],
    ["macsec", "mka-cak"],
];

/// Parts of other keys whose values are secrets: those of misplaced fields, and of a cluster's manifests.
const PARTS: &[&str] = &["password", "passphrase", "passwd", "pullsecret"];
const WORDS: &[&str] = &["psk", "cak"];

/// A shorter encoded value has no document in it.
const ENCODED: usize = 64;

/// A shorter secret may be any word of a message, and is hidden in quotes alone.
const SHORTEST: usize = 6;

/// True for a key whose value is a secret, misspelt or not.
pub fn is_key(key: &str) -> bool {
    const LONGEST: usize = 64;
    if !(2..=LONGEST).contains(&key.len()) {
        return false;
    }
    let plain = |text: &str| text.replace(['-', '_', '.', ' '], "").to_ascii_lowercase();
    let found = plain(key);
    let is_alike = |word: &str| {
        let word = plain(word);
        let allowed = if word.len() < 8 { 1 } else { 2 };
        found.len().abs_diff(word.len()) <= allowed
            && strsim::osa_distance(&found, &word) <= allowed
    };
    PARTS.iter().any(|part| found.contains(part))
        || key.split(['-', '_', '.', ' ']).any(|it| WORDS.contains(&&*it.to_ascii_lowercase()))
        || FIELDS.iter().any(|[_, name]| is_alike(name))
}

/// The secrets of a text, found when they are first needed, and shared by its places.
#[derive(Debug, Clone, Default)]
pub struct Secrets(Arc<OnceLock<Box<Found>>>);

/// Always equal: a cache that follows from the text, and no part of a place's identity.
impl PartialEq for Secrets {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Secrets {}

#[derive(Debug, Default)]
struct Found {
    /// By line: the columns from 1, in characters.
    columns: HashMap<u32, Vec<Range<u32>>>,
    values: HashSet<String>,
    /// The lengths in bytes of the values, the longest first.
    lengths: Vec<usize>,
}

impl Secrets {
    /// The secrets of a text.
    pub fn of(text: &str) -> Self {
        Self(Arc::new(OnceLock::from(Box::new(Scan::found(text)))))
    }

    /// Values that are known to be secrets.
    pub fn of_values<'t>(values: impl Iterator<Item = &'t str>) -> Self {
        let mut scan = Scan::default();
        values.for_each(|value| scan.value(value));
        Self(Arc::new(OnceLock::from(Box::new(scan.found.measured()))))
    }

    /// The text that they are of, with [`HIDDEN`] in their places; lines end as the system has it.
    pub fn hidden_in(&self, text: &str) -> String {
        let shown = |(number, line): (u32, &str)| {
            let columns = self.on_line(text, number).iter();
            let columns = columns.map(|it| it.start as usize - 1..it.end as usize - 1).collect();
            hide(line, columns, 0..0).0
        };
        let mut hidden: Vec<String> = (1..).zip(lines::split(text)).map(shown).collect();
        if text.ends_with('\n') {
            hidden.push(String::new());
        }
        // A comment may quote the value beside it.
        self.hidden(hidden.join("\n"))
    }

    /// The columns of secrets on a line, from 1.
    pub(super) fn on_line(&self, text: &str, line: u32) -> &[Range<u32>] {
        let found = self.0.get_or_init(|| Box::new(Scan::found(text)));
        found.columns.get(&line).map(Vec::as_slice).unwrap_or_default()
    }

    /// A message without the values of secrets.
    pub fn hidden(&self, message: String) -> String {
        match self.0.get() {
            Some(found) if !found.values.is_empty() => found.hidden(&message),
            _ => message,
        }
    }
}

impl Found {
    fn measured(mut self) -> Self {
        let lengths: BTreeSet<usize> = self.values.iter().map(String::len).collect();
        self.lengths = lengths.into_iter().rev().collect();
        self
    }

    fn hidden(&self, message: &str) -> String {
        let (mut shown, mut at) = (String::new(), 0);
        while at < message.len() {
            let rest = &message[at..];
            let is_quote = |c: char| matches!(c, '"' | '\'' | '`');
            let is_quoted =
                |end: usize| shown.ends_with(is_quote) && rest[end..].starts_with(is_quote);
            let secret = self.lengths.iter().find(|length| {
                let found = rest.get(..**length).filter(|start| self.values.contains(*start));
                found.is_some_and(|value| is_telling(value) || is_quoted(value.len()))
            });
            let next = rest.chars().next().map_or(1, char::len_utf8);
            match secret {
                Some(length) => {
                    shown.push_str(HIDDEN);
                    at += length;
                }
                None => {
                    shown.push_str(&rest[..next]);
                    at += next;
                }
            }
        }
        shown
    }
}

/// True for a value that is no word of nmgen's own.
fn is_telling(value: &str) -> bool {
    let is_name = |name: &&str| name.contains(value);
    value.len() >= SHORTEST && !FIELDS.as_flattened().iter().any(is_name)
}

/// A message about a text, such as a parser's error, as it is shown and without the text's secrets.
pub fn without_secrets(text: &str, message: String) -> String {
    let secrets = Secrets::default();
    secrets.on_line(text, 1);
    printable(&secrets.hidden(message))
}

/// A key, which may be glued to its value: `psk:1234`.
pub fn shown_key(key: &str) -> String {
    hide(key, in_words(key).0, 0..0).0
}

/// A line with [`HIDDEN`] in place of the columns, and the columns of `marked` in it; all columns from 0.
pub(super) fn hide(
    line: &str,
    mut columns: Vec<Range<usize>>,
    marked: Range<usize>,
) -> (String, Range<usize>) {
    columns.sort_by_key(|range| (range.start, range.end));
    let characters: Vec<char> = line.chars().collect();
    let (mut shown, mut width, mut at) = (String::with_capacity(line.len()), 0, 0);
    let mut moved = marked.clone();
    for range in columns {
        let (start, end) = (range.start.max(at), range.end.min(characters.len()));
        if start >= end {
            continue;
        }
        shown.extend(&characters[at..start]);
        width += start - at;
        let joined = start == at && at > 0 && shown.ends_with(HIDDEN);
        if !joined {
            shown.push_str(HIDDEN);
            width += HIDDEN.len();
        }
        let first = width - HIDDEN.len();
        if marked.start >= end {
            moved.start = width + (marked.start - end);
        } else if marked.start >= start {
            moved.start = first;
        }
        if marked.end >= end {
            moved.end = width + (marked.end - end);
        } else if marked.end > start {
            moved.end = width;
        }
        at = end;
    }
    shown.extend(&characters[at.min(characters.len())..]);
    (shown, moved)
}

/// The columns from 0 of values behind keys of secrets, found by their words; `true` if the value goes on in further lines.
pub(super) fn in_words(line: &str) -> (Vec<Range<usize>>, bool) {
    let characters: Vec<char> = line.chars().collect();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let (mut found, mut at, mut open) = (Vec::new(), 0, 0_usize);
    while at < characters.len() {
        match characters[at] {
            '{' | '[' => open += 1,
            '}' | ']' => open = open.saturating_sub(1),
            _ => {}
        }
        if !is_word(characters[at]) {
            at += 1;
            continue;
        }
        let length = characters[at..].iter().take_while(|c| is_word(**c)).count();
        let (start, end) = (at, at + length);
        at = end;
        let skip = |mut at: usize, of: &[char]| {
            while characters.get(at).is_some_and(|c| of.contains(c)) {
                at += 1;
            }
            at
        };
        let mark = skip(end, &['"', '\'', '\\', ' ', '\t']);
        if !matches!(characters.get(mark), Some(':' | '=')) {
            continue;
        }
        let word: String = characters[start..end].iter().collect();
        if !is_key(&word) {
            continue;
        }
        let value = skip(mark + 1, &[' ', '\t']);
        let quote = skip(value, &['\\']);
        let (end, goes_on) = match characters.get(quote) {
            None => (value, true),
            Some('|' | '>' | '&' | '*' | '!') if open == 0 => (characters.len(), true),
            Some(mark @ ('"' | '\'')) => {
                let close = characters[quote + 1..].iter().position(|c| c == mark);
                let end = close.map_or(characters.len(), |close| quote + 2 + close);
                (end, close.is_none())
            }
            Some(_) if open > 0 => {
                let ends = |c: &char| matches!(c, ',' | '}' | ']' | '"' | '\'');
                let length = characters[value..].iter().position(ends);
                (length.map_or(characters.len(), |length| value + length), false)
            }
            Some(_) => (characters.len(), false),
        };
        if end > value {
            found.push(value..end);
        }
        if goes_on {
            return (found, true);
        }
        at = end.max(at);
    }
    (found, false)
}

/// A collection that is not finished.
struct Around {
    is_mapping: bool,
    /// A key comes next.
    at_key: bool,
    /// Everything below is secret.
    is_secret: bool,
    /// The value of the last key is.
    is_next_secret: bool,
    /// The values are encoded, perhaps.
    is_data: bool,
    is_next_data: bool,
}

/// The search in a text.
#[derive(Default)]
struct Scan {
    found: Found,
    around: Vec<Around>,
    anchors: HashMap<usize, (Span, String)>,
    /// Lines to search by their words.
    lines: BTreeSet<u32>,
}

impl Scan {
    fn found(text: &str) -> Found {
        if !may_have(text) {
            return Found::default();
        }
        let mut scan = Self::default();
        let mut parser = Parser::new_from_str(text);
        let mut last = 1;
        let mut is_read = false;
        while let Some(event) = parser.next_event() {
            let Ok((event, marks)) = event else { break };
            last = marks.start.line() as u32;
            is_read = event == Event::StreamEnd;
            scan.event(event, to_span(marks));
        }
        if !is_read {
            let count = lines::split(text).count() as u32;
            scan.lines.extend(last.max(1)..=count);
        }
        scan.words(text);
        scan.found.measured()
    }

    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                if anchor != 0 {
                    self.anchors.insert(anchor, (span, text.to_string()));
                }
                let is_encoded = text.starts_with("data:") && text.len() >= ENCODED;
                let (is_secret, is_data) = self.scalar(&text);
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if is_secret {
                    self.secret(span, &text, is_block);
                } else if is_encoded || is_data && is_base64(&text) {
                    self.columns(span, is_block);
                } else if text.len() > 4 && text.contains([':', '=']) {
                    self.lines.extend(span.start.line..=span.end.line);
                }
            }
            Event::Alias(anchor) => {
                let (is_secret, _) = self.scalar("");
                if is_secret && let Some((span, text)) = self.anchors.get(&anchor).cloned() {
                    self.secret(span, &text, false);
                }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let is_mapping = matches!(event, Event::MappingStart(..));
                let (is_secret, is_data) = self.scalar("");
                self.around.push(Around {
                    is_mapping,
                    at_key: true,
                    is_secret,
                    is_next_secret: false,
                    is_data: is_data && is_mapping,
                    is_next_data: false,
                });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.around.pop();
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => {}
        }
    }

    /// Whether this scalar is secret, and whether it is data; the text matters for a key.
    fn scalar(&mut self, text: &str) -> (bool, bool) {
        let Some(around) = self.around.last_mut() else { return (false, false) };
        if !around.is_mapping {
            return (around.is_secret, around.is_data);
        }
        around.at_key = !around.at_key;
        if around.at_key {
            return (
                around.is_secret || around.is_next_secret,
                around.is_data || around.is_next_data,
            );
        }
        around.is_next_secret = is_key(text);
        around.is_next_data = text == "data";
        (false, false)
    }

    fn secret(&mut self, span: Span, text: &str, is_block: bool) {
        self.columns(span, is_block);
        self.value(text);
        text.lines().for_each(|line| self.value(line.trim()));
    }

    fn columns(&mut self, span: Span, is_block: bool) {
        for line in span.start.line..=span.end.line {
            let start = if line == span.start.line { span.start.column } else { 1 };
            let end = match line == span.end.line {
                true if is_block && span.end.column == 1 => continue,
                true if !is_block => span.end.column,
                true | false => u32::MAX,
            };
            self.found.columns.entry(line).or_default().push(start..end);
        }
    }

    /// A value, and the forms in which a message may quote it.
    fn value(&mut self, text: &str) {
        let number = match text.get(..2) {
            Some("0x") => u64::from_str_radix(&text[2..], 16).ok(),
            Some("0o") => u64::from_str_radix(&text[2..], 8).ok(),
            Some("0b") => u64::from_str_radix(&text[2..], 2).ok(),
            _ => None,
        };
        let float = text.parse::<f64>().ok();
        let forms = [
            Some(text.to_owned()),
            Some(text.escape_debug().to_string()),
            Some(format!("{text:?}").trim_matches('"').to_owned()),
            number.map(|number| number.to_string()),
            float.map(|float| float.to_string()),
            float.map(|float| format!("{float:?}")),
        ];
        self.found.values.extend(forms.into_iter().flatten().filter(|form| !form.is_empty()));
    }

    /// Searches the lines that have a scalar with several words, or that no event is known of.
    fn words(&mut self, text: &str) {
        let lines = std::mem::take(&mut self.lines);
        let mut indent = None;
        for (number, line) in (1..).zip(lines::split(text)) {
            let own = line.chars().take_while(|c| *c == ' ').count();
            let length = line.chars().count();
            if let Some(above) = indent
                && lines.contains(&number)
            {
                if own == length {
                    continue;
                }
                if own > above || !line.contains(':') {
                    let rest = Position { line: number, column: own as u32 + 1 };
                    let end = Position { line: number, column: length as u32 + 1 };
                    self.secret(Span { start: rest, end }, line.trim(), false);
                    continue;
                }
            }
            indent = None;
            if !lines.contains(&number) {
                continue;
            }
            let (found, goes_on) = in_words(line);
            for range in found {
                let known = self.found.columns.get(&number).map(Vec::as_slice).unwrap_or_default();
                if known.iter().any(|it| it.start as usize == range.start + 1) {
                    continue;
                }
                let value: String =
                    line.chars().skip(range.start).take(range.len()).collect::<String>();
                let quotes: &[char] = &['"', '\'', '\\', ' '];
                self.value(value.trim_matches(quotes));
                let range = range.start as u32 + 1..range.end as u32 + 1;
                self.found.columns.entry(number).or_default().push(range);
            }
            if goes_on {
                indent = Some(own);
            }
        }
    }
}

/// True if a word of the text may be the key of a secret, or the text has encoded values.
fn may_have(text: &str) -> bool {
    let mut known: HashMap<&str, bool> = HashMap::new();
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    words.any(|word| {
        let is_short = (2..=64).contains(&word.len());
        is_short && (word == "data" || *known.entry(word).or_insert_with(|| is_key(word)))
    })
}

fn is_base64(text: &str) -> bool {
    let is_of_it = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '\n' | ' ');
    text.len() >= ENCODED && text.chars().all(is_of_it)
}

fn to_span(marks: Marks) -> Span {
    let at = |line: usize, column: usize| Position { line: line as u32, column: column as u32 + 1 };
    Span {
        start: at(marks.start.line(), marks.start.col()),
        end: at(marks.end.line(), marks.end.col()),
    }
}

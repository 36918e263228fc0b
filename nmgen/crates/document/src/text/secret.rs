//! Secrets in a text: everything that is shown of it has [`HIDDEN`] in their place. What is one is decided here alone, for all
//! programs; doc/secrets.md describes it.
//!
//! A text need not be valid for that: its events are read up to the first fault, and lines behind it by their words.

mod credentials;
mod forms;
mod keys;
mod section;
mod values;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Marks};

pub use self::keys::{FIELDS, HIDDEN, is_key, is_public, is_secret};
use self::keys::{VPN_SECRETS, WIREGUARD, is_password};
pub use self::section::{is_harmless, is_section};
use self::values::Values;
pub(super) use self::words::in_words;
use self::words::{Words, in_comment, of_profile};
use super::{Position, Span, breaks};
use crate::format::printable;

/// The first letters of a token in place of the digest of a text with secrets.
pub const TOKEN: &str = "hidden-";

/// A longer value is no name and no address.
const LONGEST_NAME: usize = 64;

/// A shorter encoded value has no document in it.
const ENCODED: usize = 64;

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
    values: Values,
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
        Self(Arc::new(OnceLock::from(Box::new(scan.end()))))
    }

    /// The text that they are of, with [`HIDDEN`] in their places; lines end as the system has it.
    pub fn hidden_in(&self, text: &str) -> String {
        let shown = |(number, line): (u32, &str)| {
            let columns = self.on_line(text, number).iter();
            let columns =
                columns.map(|column| column.start as usize - 1..column.end as usize - 1).collect();
            hide(line, columns, 0..0).0
        };
        let mut hidden: Vec<String> = (1..).zip(breaks::split(text)).map(shown).collect();
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

    /// A message without the values of secrets, and without those that any text may have by their forms.
    pub fn hidden(&self, message: String) -> String {
        match self.hidden_start(&message, usize::MAX) {
            Cow::Borrowed(_) => message,
            Cow::Owned(hidden) => hidden,
        }
    }

    /// [`Self::hidden`], of a long message about so many bytes.
    pub(crate) fn hidden_start<'m>(&self, message: &'m str, most: usize) -> Cow<'m, str> {
        match self.0.get() {
            Some(found) => found.values.hidden(message, most),
            None => Values::default().hidden(message, most),
        }
    }
}

/// A message about a text, such as a parser's error, as it is shown and without the text's secrets.
pub fn without_secrets(text: &str, message: String) -> String {
    let secrets = Secrets::default();
    secrets.on_line(text, 1);
    printable(&secrets.hidden(message))
}

/// A value under a harmless key.
pub fn shown_value(text: Cow<'_, str>) -> Cow<'_, str> {
    // Most values are words, numbers and addresses.
    let has_words = text.contains('=') || text.contains(": ");
    let words = if has_words { in_words(&text, false).values } else { Vec::new() };
    let shown = if words.is_empty() { text } else { Cow::Owned(hide(&text, words, 0..0).0) };
    match Secrets::default().hidden_start(&shown, usize::MAX) {
        Cow::Borrowed(_) => shown,
        Cow::Owned(hidden) => Cow::Owned(hidden),
    }
}

/// A key, which may be glued to its value: `psk:1234`.
pub fn shown_key(key: &str) -> String {
    hide(key, in_words(key, false).values, 0..0).0
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

/// A collection that is not finished.
struct Around {
    is_mapping: bool,
    /// A key comes next.
    at_key: bool,
    /// Everything below is secret.
    is_secret: bool,
    /// The last key, if it is one of secrets.
    key: Option<Box<str>>,
    /// The value of the last key may be a secret, since the section has no such key.
    is_next_unknown: bool,
    /// The values are encoded, perhaps.
    is_data: bool,
    is_next_data: bool,
    /// The values of unknown keys are secret.
    is_section: bool,
    is_next_section: bool,
}

/// The use of a value, by its key.
#[derive(Default)]
struct Role {
    is_secret: bool,
    is_unknown: bool,
    is_data: bool,
    is_section: bool,
}

#[derive(Default)]
struct Scan {
    columns: HashMap<u32, Vec<Range<u32>>>,
    values: BTreeSet<String>,
    /// Values of keys that NMState does not have, and the short values that the text has elsewhere: one that is both, such as an
    /// interface's name, is hidden at its own place alone.
    unknown: Vec<String>,
    elsewhere: BTreeSet<String>,
    around: Vec<Around>,
    anchors: HashMap<usize, (Span, String)>,
    /// Lines to search by their words.
    lines: BTreeSet<u32>,
}

impl Scan {
    fn found(text: &str) -> Found {
        let mut scan = Self::default();
        scan.forms(text);
        scan.comments(text);
        if may_have(text) {
            scan.read(text);
        }
        scan.end()
    }

    fn end(mut self) -> Found {
        for value in std::mem::take(&mut self.unknown) {
            if !self.elsewhere.contains(&value) {
                self.value_with_lines(&value);
            }
        }
        Found { columns: self.columns, values: Values::of(self.values) }
    }

    fn read(&mut self, text: &str) {
        let mut parser = Parser::new_from_str(text);
        let mut last = 1;
        let mut is_read = false;
        while let Some(event) = parser.next_event() {
            let Ok((event, marks)) = event else { break };
            last = marks.start.line() as u32;
            is_read = event == Event::StreamEnd;
            self.event(event, to_span(marks));
        }
        if !is_read {
            let count = breaks::split(text).count() as u32;
            self.lines.extend(last.max(1)..=count);
        }
        self.words(text);
    }

    /// The secrets that any text may have.
    fn forms(&mut self, text: &str) {
        let mut forms = forms::found(text).into_iter().peekable();
        let mut start = 0;
        for (number, line) in (1..).zip(breaks::lines(text)) {
            let end = start + line.len();
            while let Some(form) = forms.peek().filter(|form| form.start < end) {
                let is_last = form.end <= end;
                let of_line = &line[..form.end.min(end) - start];
                // The indentation stays.
                let indent = line.len() - line.trim_start_matches(' ').len();
                let first = if form.start > start { form.start - start } else { indent };
                if let Some(value) = of_line.get(first..).map(breaks::without_break)
                    && !value.is_empty()
                {
                    let before = line[..first].chars().count() as u32 + 1;
                    let columns = before..before + value.chars().count() as u32;
                    self.columns.entry(number).or_default().push(columns);
                    self.value(value);
                }
                if !is_last {
                    break;
                }
                forms.next();
            }
            start = end;
        }
    }

    /// The secrets in comments, which no parser has events of.
    fn comments(&mut self, text: &str) {
        if memchr::memchr2(b'#', b';', text.as_bytes()).is_none() {
            return;
        }
        for (number, line) in (1..).zip(breaks::split(text)) {
            let start = match line.trim_start().starts_with(';') {
                true => line.find(';'),
                false => line.find('#'),
            };
            let Some((before, comment)) = start.map(|at| line.split_at(at + 1)) else { continue };
            let first = before.chars().count();
            let (values, prose) = in_comment(comment);
            taken(comment, &values).iter().for_each(|value| self.value(value.trim_matches(AROUND)));
            let columns = values.into_iter().chain(prose);
            let columns = columns
                .map(|column| (first + column.start) as u32 + 1..(first + column.end) as u32 + 1);
            self.columns.entry(number).or_default().extend(columns);
        }
    }

    fn event(&mut self, event: Event<'_>, span: Span) {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                if anchor != 0 {
                    self.anchors.insert(anchor, (span, text.to_string()));
                }
                let is_encoded = text.starts_with("data:") && text.len() >= ENCODED;
                let Role { is_secret, is_unknown, is_data, .. } = self.scalar(&text);
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                if !is_secret && (1..=LONGEST_NAME).contains(&text.len()) {
                    self.elsewhere.insert(text.to_string());
                }
                if is_unknown {
                    self.hide(span, is_block);
                    self.unknown.push(text.into_owned());
                } else if is_secret {
                    self.secret(span, &text, is_block);
                } else if is_encoded || is_data && is_base64(&text) {
                    self.hide(span, is_block);
                } else if text.len() > 4 && text.contains([':', '=']) {
                    self.lines.extend(span.start.line..=span.end.line);
                }
            }
            Event::Alias(anchor) => {
                if self.scalar("").is_secret
                    && let Some((span, text)) = self.anchors.get(&anchor).cloned()
                {
                    self.secret(span, &text, false);
                }
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                let is_mapping = matches!(event, Event::MappingStart(..));
                let Role { is_secret, is_data, is_section, .. } = self.scalar("");
                self.around.push(Around {
                    is_mapping,
                    at_key: true,
                    is_secret,
                    key: None,
                    is_next_unknown: false,
                    is_data: is_data && is_mapping,
                    is_next_data: false,
                    is_section: is_section && is_mapping,
                    is_next_section: false,
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

    /// The value's role; the text matters for a key, which has none itself.
    fn scalar(&mut self, text: &str) -> Role {
        let Some(around) = self.around.last_mut() else { return Role::default() };
        let (is_secret, is_data) = (around.is_secret, around.is_data);
        if !around.is_mapping {
            return Role { is_secret, is_data, ..Role::default() };
        }
        around.at_key = !around.at_key;
        if around.at_key {
            let of_key = around.key.as_deref().filter(|key| !is_public(key, text));
            let is_unknown = around.is_next_unknown || of_key.is_some_and(|key| !is_password(key));
            return Role {
                is_secret: is_secret || around.is_next_unknown || of_key.is_some(),
                is_unknown: !is_secret && is_unknown,
                is_data: is_data || around.is_next_data,
                is_section: around.is_next_section,
            };
        }
        around.key = is_key(text).then(|| text.into());
        around.is_next_unknown = around.key.is_none() && around.is_section && !is_harmless(text);
        around.is_next_data = text == "data";
        around.is_next_section = is_section(text);
        Role::default()
    }

    fn secret(&mut self, span: Span, text: &str, is_block: bool) {
        self.hide(span, is_block);
        self.value_with_lines(text);
    }

    fn value_with_lines(&mut self, text: &str) {
        self.value(text);
        text.lines().for_each(|line| self.value(line.trim()));
    }

    fn hide(&mut self, span: Span, is_block: bool) {
        for line in span.start.line..=span.end.line {
            let start = if line == span.start.line { span.start.column } else { 1 };
            let end = match line == span.end.line {
                true if is_block && span.end.column == 1 => continue,
                true if !is_block => span.end.column,
                true | false => u32::MAX,
            };
            self.columns.entry(line).or_default().push(start..end);
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
        self.values.extend(forms.into_iter().flatten().filter(|form| !form.is_empty()));
    }

    /// Searches the lines that have a scalar with several words, or that no event is known of.
    fn words(&mut self, text: &str) {
        let lines = std::mem::take(&mut self.lines);
        let (mut indent, mut section, mut of_profile_named) = (None, None, None);
        for (number, line) in (1..).zip(breaks::split(text)) {
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
            // A section's lines are those with more indentation, from before the first fault on.
            section = section.filter(|above| own > *above || own == length);
            let is_below = section.is_some();
            if section.is_none() && words::begins_section(line) {
                section = Some(own);
            }
            if let Some(name) =
                line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'))
            {
                of_profile_named =
                    [VPN_SECRETS, WIREGUARD].into_iter().find(|known| *known == name);
            }
            if !lines.contains(&number) {
                continue;
            }
            let Words { values, goes_on } = match of_profile_named {
                Some(section) => of_profile(line, section),
                None => in_words(line, is_below),
            };
            let columns = self.columns.entry(number).or_default();
            let known: HashSet<u32> = columns.iter().map(|column| column.start).collect();
            let found = |value: &Range<usize>| !known.contains(&(value.start as u32 + 1));
            let values: Vec<Range<usize>> = values.into_iter().filter(found).collect();
            columns.extend(values.iter().map(|value| value.start as u32 + 1..value.end as u32 + 1));
            taken(line, &values).iter().for_each(|value| self.value(value.trim_matches(AROUND)));
            if goes_on {
                indent = Some(own);
            }
        }
    }
}

/// What may be around a value.
const AROUND: &[char] = &['"', '\'', '\\', ' '];

/// The characters of each range.
fn taken(line: &str, ranges: &[Range<usize>]) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    let ranges = ranges.iter().filter_map(|range| characters.get(range.clone()));
    ranges.map(|range| range.iter().collect()).collect()
}

/// True if a word of the text may be the key of a secret, or the text has encoded values.
fn may_have(text: &str) -> bool {
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    words.any(|word| {
        (2..=64).contains(&word.len()) && (word == "data" || is_section(word) || is_key(word))
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

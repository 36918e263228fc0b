//! Secrets in a text: a diagnostic shows [`HIDDEN`] in their place, whatever it is written to.
//!
//! A text need not be valid for that: its events are read up to the first fault, and lines behind it by their words.

mod credentials;
mod keys;
mod section;
mod values;
mod words;

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use saphyr_parser::{Event, Parser, ScalarStyle, Span as Marks};

pub use self::credentials::without_credentials;
pub use self::keys::{FIELDS, HIDDEN, is_key};
pub use self::section::{is_harmless, is_section};
use self::values::Values;
use self::words::Words;
pub(super) use self::words::in_words;
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

    /// A message without the values of secrets, and without the passwords of addresses.
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
    /// The value of the last key is.
    is_next_secret: bool,
    /// It may be one, since the section has no such key.
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

/// The search in a text.
#[derive(Default)]
struct Scan {
    columns: HashMap<u32, Vec<Range<u32>>>,
    values: BTreeSet<String>,
    /// Values of keys that a section does not have, and the short values that the text has elsewhere: one that is both, such as an
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
        scan.credentials(text);
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

    /// The passwords of addresses.
    fn credentials(&mut self, text: &str) {
        // Most texts have none.
        if memchr::memchr(b'@', text.as_bytes()).is_none() {
            return;
        }
        for (number, line) in (1..).zip(breaks::split(text)) {
            let (mut at, mut column) = (0, 1);
            for password in credentials::passwords(line) {
                let mut column_of = |place: usize| {
                    column += line.get(at..place).unwrap_or_default().chars().count() as u32;
                    at = place;
                    column
                };
                let columns = column_of(password.start)..column_of(password.end);
                self.columns.entry(number).or_default().push(columns);
                self.value(&line[password]);
            }
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
                    is_next_secret: false,
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
        let Around { is_secret, is_data, .. } = *around;
        if !around.is_mapping {
            return Role { is_secret, is_data, ..Role::default() };
        }
        around.at_key = !around.at_key;
        if around.at_key {
            return Role {
                is_secret: is_secret || around.is_next_secret,
                is_unknown: !is_secret && around.is_next_unknown,
                is_data: is_data || around.is_next_data,
                is_section: around.is_next_section,
            };
        }
        let is_key = is_key(text);
        around.is_next_unknown = !is_key && around.is_section && !is_harmless(text);
        around.is_next_secret = is_key || around.is_next_unknown;
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
        let (mut indent, mut section) = (None, None);
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
            if !lines.contains(&number) {
                continue;
            }
            let Words { values, goes_on } = in_words(line, is_below);
            for range in values {
                let known = self.columns.get(&number).map(Vec::as_slice).unwrap_or_default();
                if known.iter().any(|it| it.start as usize == range.start + 1) {
                    continue;
                }
                let value: String =
                    line.chars().skip(range.start).take(range.len()).collect::<String>();
                let quotes: &[char] = &['"', '\'', '\\', ' '];
                self.value(value.trim_matches(quotes));
                let range = range.start as u32 + 1..range.end as u32 + 1;
                self.columns.entry(number).or_default().push(range);
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
        let is_known = || word == "data" || is_section(word);
        is_short && (is_known() || *known.entry(word).or_insert_with(|| is_key(word)))
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

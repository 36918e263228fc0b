//! Parses text to a tree. Depth and size are bounded, so that the cost is proportional to the text.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Marker, Parser, ScalarStyle, ScanError, Span as Marks, StrInput, Tag};

use super::dialect::DialectFault;
#[cfg(feature = "hints")]
use super::hint;
use super::parsed::Document;
use super::quoted::{self, Added};
use super::space::SYNTAX;
use super::tree::{Entry, Node, Value};
use super::{dialect, space, tab, template};
use crate::budget::Budget;
use crate::diagnostic::{Diagnostic, Diagnostics, Rule, rules};
use crate::size;
use crate::text::lines::Lines;
use crate::text::{Position, Source, Span};

/// NMState nests at most nine levels.
const MAX_DEPTH: usize = 32;

/// Comes before a text that begins with a bracket, as JSON does: the scanner keeps all tokens of a collection that may be a key,
/// and what begins on this line is none.
const DOCUMENT_START: &str = "--- ";

/// The tags that repeat the value's own type; `!!str` is handled apart.
const CORE_TAGS: &[&str] = &["bool", "float", "int", "map", "null", "seq", "str"];

/// Usual causes of the parser's errors.
#[cfg(feature = "hints")]
const HELP: &[(&str, &str)] = &[
    (
        "did not find expected '-' indicator",
        "it is indented like the '-' of a list: align it with the keys of the item above",
    ),
    ("did not find expected key", "its indentation matches no line above"),
    ("simple key expect ':'", "a key ends in ': ', with a space; the line above may lack it"),
    (
        "did not find expected ',' or",
        "a ',' is missing between two values, or a bracket or a quote is not closed",
    ),
    ("found unknown anchor", "define it above, or put a text that begins with '*' into quotes"),
    (
        "unexpected character: `@'",
        "put a text that begins with '@' into quotes; a word between two of them is a template's that was not filled",
    ),
    (quoted::FAULT, "this quoted text goes on below: its closing quote may be missing"),
    (
        "mapping values are not allowed",
        "is this indented like the line above? text with ': ' in it needs quotes",
    ),
];
#[cfg(not(feature = "hints"))]
const HELP: &[(&str, &str)] = &[];

rules! {
    error DUPLICATE_KEY = "duplicate-key";
    error NESTING = "nesting";
    error ALIAS_EXPANSION = "alias-expansion";
    error MULTIPLE_DOCUMENTS = "multiple-documents";
    error YAML_TAG = "yaml-tag";
    error KEY_NOT_SCALAR = "key-not-scalar";
}

/// Parses one NMState document. Reports the duplicate keys of all mappings; any other fault ends it.
pub fn parse(source: &Source) -> Result<Document<'_>, Diagnostics> {
    parse_text(&source.text, Lines::new(source))
}

/// Parses an NMState document from the text of `lines`.
pub fn parse_text(text: &str, lines: Lines) -> Result<Document<'_>, Diagnostics> {
    match size::too_many_marks(lines.source()) {
        Some(fault) => Err(fault.into()),
        None => usable(parse_tree(text, lines)?),
    }
}

/// A document that nmgen and nmstate's tools can use; else its fault.
pub fn usable(document: Document<'_>) -> Result<Document<'_>, Diagnostics> {
    // A part of another document has a text of its own when it is written.
    let own = (!document.is_part).then(|| document.source());
    let marks = own.and_then(size::too_many_marks);
    let fault = marks.or_else(|| size::too_many(&document));
    match fault.or_else(|| dialect_fault(&document)) {
        Some(fault) => Err(fault.into()),
        None => Ok(document),
    }
}

/// Parses any document from the text of `lines`.
pub(crate) fn parse_tree(text: &str, lines: Lines) -> Result<Document<'_>, Diagnostics> {
    let spaced = tab::as_spaces(text);
    let spaced = spaced.as_deref().unwrap_or(text);
    let is_flow = text.starts_with(['{', '[']);
    let begun = is_flow.then(|| format!("{DOCUMENT_START}{spaced}"));
    let indented;
    let mut reader = Reader::new(text, begun.as_deref().unwrap_or(spaced), lines);
    reader.added = if is_flow { vec![(1, DOCUMENT_START.len())] } else { Added::new() };
    let mut tree = reader.crowding().map_or_else(|| reader.document(0), Err);
    if tree.as_ref().is_err_and(|fatal| fatal.message == quoted::FAULT)
        && let Some((text_of_parser, added)) = quoted::indented(text)
    {
        indented = text_of_parser;
        reader = Reader { added, ..Reader::new(text, &indented, reader.lines) };
        tree = reader.document(0);
    }
    match tree {
        Ok(root) => {
            reader.faults.extend(space::in_keys(text, &root, &reader.lines));
            if reader.faults.is_empty() {
                return Ok(Document { lines: reader.lines, is_part: false, root });
            }
            #[cfg(feature = "hints")]
            if let Some(fault) = hint::instead_of_duplicates(&root, &reader.lines) {
                return Err(fault.into());
            }
        }
        Err(fatal) => {
            #[cfg(feature = "hints")]
            let fatal = {
                let suspicion = match fatal.rule {
                    SYNTAX | KEY_NOT_SCALAR => hint::Suspicion::Text,
                    MULTIPLE_DOCUMENTS => hint::Suspicion::Command,
                    _ => hint::Suspicion::Nothing,
                };
                hint::instead_of(&fatal, suspicion, &reader.lines).map_or(fatal, Box::new)
            };
            reader.faults.push(*fatal);
        }
    }
    Err(reader.faults)
}

/// A part of the text of `lines`, `above` lines below its beginning and so many levels below its root: the tree and the number
/// of its values; `None` if it has any fault.
pub(super) fn part<'t>(
    text: &'t str,
    lines: &Lines,
    above: u32,
    levels_above: usize,
) -> Option<(Node<'t>, usize)> {
    // The parts count for the file where all of them are used.
    let budget = Budget::of(text);
    let reader = Reader::new(text, text, lines.clone());
    let mut reader = Reader { above, budget: budget.clone(), ..reader };
    let root = reader.document(levels_above).ok()?;
    reader.faults.is_empty().then_some((root, budget.spent()))
}

/// The fault of a text that is no document yet, or that nmstate's tools cannot read.
fn dialect_fault(document: &Document<'_>) -> Option<Diagnostic> {
    let lines = &document.lines;
    if let Some(template) = template::in_values(&lines.source().text, &document.root, lines) {
        return Some(template);
    }
    let text = &lines.source().text;
    let is_same = |text: &str| {
        // Another reading of the text is none of the file's values.
        let lines = Lines::new(lines.source());
        parse_tree(text, lines)
            .is_ok_and(|parse_tree| parse_tree.root.means_the_same(&document.root))
    };
    let refusal = dialect::refusal(text).or_else(|| dialect::blank_end(text, is_same));
    let DialectFault { message, help, at } = refusal?;
    let fault = Diagnostic::new(SYNTAX, message, lines.place(Span { start: at, end: at }));
    Some(match help {
        Some(help) => fault.help(help),
        None => fault,
    })
}

type Fatal = Box<Diagnostic>;

/// An anchored value and its size: each alias counts as that many values and levels.
#[derive(Clone)]
struct Anchored<'t> {
    node: Node<'t>,
    values: usize,
    levels: usize,
}

struct Reader<'t, 's> {
    text: &'t str,
    /// The last line without its indentation, if no line break ends it; else empty.
    open_end: &'t str,
    lines: Lines,
    /// The number of lines above the text.
    above: u32,
    /// What the parser has and the text has not.
    added: Added,
    /// Parser of the text, perhaps with spaces in place of tabs.
    parser: Parser<'s, StrInput<'s>>,
    anchors: HashMap<usize, Anchored<'t>>,
    /// Items and entries of unfinished lists and mappings, innermost last: each list is allocated once, in its size.
    items: Vec<Node<'t>>,
    entries: Vec<Entry<'t>>,
    budget: Budget,
    faults: Diagnostics,
}

impl<'t, 's> Reader<'t, 's> {
    /// `spaced` is the text, perhaps with spaces in place of tabs.
    fn new(text: &'t str, spaced: &'s str, lines: Lines) -> Self {
        Self {
            text,
            open_end: text.rsplit(['\n', '\r']).next().unwrap_or_default().trim_start_matches(' '),
            budget: lines.budget().clone(),
            lines,
            above: 0,
            added: Added::new(),
            parser: Parser::new_from_str(spaced),
            anchors: HashMap::new(),
            items: Vec::new(),
            entries: Vec::new(),
            faults: Diagnostics::default(),
        }
    }

    fn next(&mut self) -> Result<(Event<'s>, Marks), Fatal> {
        let Some(event) = self.parser.next_event() else {
            return Ok((Event::StreamEnd, Marks::default()));
        };
        let (event, marks) = event.map_err(|error| self.scan_error(&error))?;
        Ok((event, Marks::new(self.moved(marks.start), self.moved(marks.end))))
    }

    /// Returns the parser's place as one of the file.
    fn moved(&self, at: Marker) -> Marker {
        let (mut index, mut column) = (at.index(), at.col());
        for (line, added) in &self.added {
            if *line <= at.line() {
                index = index.saturating_sub(*added);
            }
            if *line == at.line() {
                column = column.saturating_sub(*added);
            }
        }
        Marker::new(index, at.line() + self.above as usize, column)
    }

    /// Returns the fault of a text with more commas and brackets than its file may have, before it is scanned.
    fn crowding(&self) -> Option<Fatal> {
        let most = self.budget.most_marks();
        let at = size::surplus_mark(self.text, most)?;
        let message = format!("there are more than {most} commas and brackets up to here");
        let fault = self.fatal(ALIAS_EXPANSION, message, Span { start: at, end: at });
        Some(fault.map_help("split the file, or describe one node in one document"))
    }

    fn document(&mut self, depth: usize) -> Result<Node<'t>, Fatal> {
        loop {
            let (event, marks) = self.next()?;
            match event {
                Event::StreamStart | Event::Nothing => {}
                Event::DocumentStart(_) => break,
                Event::StreamEnd
                | Event::DocumentEnd
                | Event::Alias(_)
                | Event::Scalar(..)
                | Event::SequenceStart(..)
                | Event::SequenceEnd
                | Event::MappingStart(..)
                | Event::MappingEnd => return Ok(null(to_span(marks))),
            }
        }
        let (event, marks) = self.next()?;
        let root = self.node(event, marks, depth)?;
        self.next()?;
        let (event, marks) = self.next()?;
        if event == Event::StreamEnd {
            return Ok(root);
        }
        Err(self
            .fatal(MULTIPLE_DOCUMENTS, "a second document begins here", to_span(marks))
            .map_help("one file describes one node: remove the \"---\" and what follows"))
    }

    fn node(&mut self, event: Event<'s>, marks: Marks, depth: usize) -> Result<Node<'t>, Fatal> {
        let span = to_span(marks);
        if depth > MAX_DEPTH {
            return Err(self.nesting(span));
        }
        self.count(1, span)?;
        let (anchor, node) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                let plain =
                    style == ScalarStyle::Plain && !self.is_string_tag(tag.as_deref(), span)?;
                let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                let text = if is_block { without_added_break(self.open_end, text) } else { text };
                let text = slice(self.text, text, marks.start.index());
                (anchor, Node { span, value: Value::Scalar { text, plain } })
            }
            Event::SequenceStart(anchor, tag) => {
                self.is_string_tag(tag.as_deref(), span)?;
                (anchor, self.sequence(span, depth)?)
            }
            Event::MappingStart(anchor, tag) => {
                self.is_string_tag(tag.as_deref(), span)?;
                (anchor, self.mapping(span, depth)?)
            }
            Event::Alias(anchor) => return self.alias(anchor, span, depth),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd
            | Event::SequenceEnd
            | Event::MappingEnd => (0, null(span)),
        };
        if anchor != 0 {
            let (values, levels) = (repeated(&node), levels(&node));
            // The copy counts too: anchors within anchors would multiply the text.
            self.count(values, span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), values, levels });
        }
        Ok(node)
    }

    fn sequence(&mut self, start: Span, depth: usize) -> Result<Node<'t>, Fatal> {
        let first = self.items.len();
        loop {
            let (event, marks) = self.next()?;
            if event == Event::SequenceEnd {
                let span = Span { start: start.start, end: to_span(marks).end };
                let items = self.items.drain(first..).collect();
                return Ok(Node { span, value: Value::Sequence(items) });
            }
            let item = self.node(event, marks, depth + 1)?;
            self.items.push(item);
        }
    }

    fn mapping(&mut self, start: Span, depth: usize) -> Result<Node<'t>, Fatal> {
        let first = self.entries.len();
        loop {
            let (event, marks) = self.next()?;
            let key_span = to_span(marks);
            if event == Event::MappingEnd {
                let entries: Vec<Entry<'t>> = self.entries.drain(first..).collect();
                self.duplicate_keys(&entries);
                let span = Span { start: start.start, end: key_span.end };
                return Ok(Node { span, value: Value::Mapping(entries) });
            }
            let key = match self.node(event, marks, depth + 1)?.value {
                Value::Scalar { text, .. } if !text.is_empty() => text,
                Value::Scalar { .. } | Value::Sequence(_) | Value::Mapping(_) => {
                    return Err(self.fatal(KEY_NOT_SCALAR, "a key must be a plain word", key_span));
                }
            };
            let (event, marks) = self.next()?;
            let node = self.node(event, marks, depth + 1)?;
            self.entries.push(Entry { key, key_span, node });
        }
    }

    /// Several of them are one mistake: an item that lacks its '-' goes on with the keys of the one above.
    fn duplicate_keys(&mut self, entries: &[Entry<'t>]) {
        let mut sorted: Vec<&Entry<'t>> = entries.iter().collect();
        sorted.sort_by(|a, b| a.key.cmp(&b.key));
        let pairs = sorted.windows(2).filter_map(|pair| match pair {
            [first, again] if first.key == again.key => Some((*first, *again)),
            _ => None,
        });
        let Some((first, again)) = pairs.clone().min_by_key(|(_, again)| again.key_span.start)
        else {
            return;
        };
        // Keys of an NMStateConfig, whose map of cards is beside the NMState document.
        let is_map_of_cards = cfg!(feature = "hints")
            && again.node.items().iter().any(|item| item.get("macAddress").is_some());
        let help = match pairs.count() {
            1 if is_map_of_cards => {
                "its items have macAddress: this map of cards belongs beside the NMState document, not into it"
            }
            1 if first.node.is_null() => {
                "the first has no value: its lines must be indented further"
            }
            1 => "keep one of them: nmstate may take either",
            _ => {
                "other keys of this mapping too: a new item of a list begins with '-', else keep one of each"
            }
        };
        self.faults.push(duplicate_key(&self.lines, first, again).help(help));
    }

    fn alias(&mut self, anchor: usize, span: Span, depth: usize) -> Result<Node<'t>, Fatal> {
        let Some(anchored) = self.anchors.get(&anchor) else {
            // Only an alias within its own anchor has no value yet.
            return Err(self.fatal(
                ALIAS_EXPANSION,
                "this alias refers to a value that contains it",
                span,
            ));
        };
        if depth + anchored.levels > MAX_DEPTH {
            return Err(self.nesting(span));
        }
        // Before the copy, which may be large.
        self.count(anchored.values, span)?;
        Ok(Node { span, value: anchored.node.value.clone() })
    }

    fn count(&self, more: usize, span: Span) -> Result<(), Fatal> {
        if self.budget.spend(more) {
            return Ok(());
        }
        Err(self.too_many_values(span))
    }

    fn too_many_values(&self, span: Span) -> Fatal {
        let most = self.budget.most();
        let message = format!(
            "there are more than {most} values up to here, aliases expanded and repeated text counted"
        );
        self.fatal(ALIAS_EXPANSION, message, span)
            .map_help("write the values out, or describe one node in one document")
    }

    /// True for `!!str`. NMState uses no other tags, and nmstate's parser interprets them in its own
    /// way.
    fn is_string_tag(&mut self, tag: Option<&Tag>, span: Span) -> Result<bool, Fatal> {
        match tag {
            None => Ok(false),
            Some(tag) if tag.is_yaml_core_schema() && CORE_TAGS.contains(&&*tag.suffix) => {
                Ok(tag.suffix == "str")
            }
            Some(tag) => Err(self.fatal(YAML_TAG, format!("NMState has no YAML tag {tag}"), span)),
        }
    }

    fn nesting(&self, span: Span) -> Fatal {
        self.fatal(NESTING, format!("values are nested more than {MAX_DEPTH} levels deep"), span)
    }

    fn scan_error(&self, error: &ScanError) -> Fatal {
        let at = to_position(&self.moved(*error.marker()));
        let span = Span { start: at, end: at };
        // The scanner looks ahead, so "[[[[…" exceeds its bound before ours.
        if error.info().contains("recursion limit") {
            return self.nesting(span);
        }
        let fatal = self.fatal(SYNTAX, error.info().to_owned(), span);
        match HELP.iter().find(|(words, _)| error.info().contains(words)) {
            Some((_, help)) => fatal.map_help(help),
            None => fatal,
        }
    }

    fn fatal(&self, rule: Rule, message: impl Into<String>, span: Span) -> Fatal {
        Box::new(Diagnostic::new(rule, message, self.lines.place(span)))
    }
}

/// The number of levels below a value: 0 for a scalar.
fn levels(node: &Node<'_>) -> usize {
    let below = match &node.value {
        Value::Scalar { .. } => return 0,
        Value::Sequence(items) => items.iter().map(levels).max(),
        Value::Mapping(entries) => entries.iter().map(|entry| levels(&entry.node)).max(),
    };
    1 + below.unwrap_or(0)
}

/// The number of values that a repeated value counts as.
fn repeated(node: &Node<'_>) -> usize {
    match &node.value {
        Value::Scalar { text, .. } => 1 + Budget::of_repeated(text),
        Value::Sequence(items) => 1 + items.iter().map(repeated).sum::<usize>(),
        Value::Mapping(entries) => {
            let entry = |entry: &Entry<'_>| Budget::of_repeated(&entry.key) + repeated(&entry.node);
            1 + entries.iter().map(entry).sum::<usize>()
        }
    }
}

trait MapHelp {
    fn map_help(self, help: &'static str) -> Self;
}

impl MapHelp for Fatal {
    fn map_help(self, help: &'static str) -> Self {
        Box::new((*self).help(help))
    }
}

fn duplicate_key(lines: &Lines, first: &Entry<'_>, again: &Entry<'_>) -> Diagnostic {
    let line = lines.place(first.key_span).line().unwrap_or(first.key_span.start.line);
    let message = format!("\"{}\" is repeated; first on line {line}", again.key);
    Diagnostic::new(DUPLICATE_KEY, message, lines.place(again.key_span))
}

/// The parser adds a line break to a block scalar that ends with the text. To YAML and to libyaml it has none there.
fn without_added_break<'s>(open_end: &str, mut scalar: Cow<'s, str>) -> Cow<'s, str> {
    if !open_end.is_empty()
        && scalar.strip_suffix('\n').is_some_and(|text| text.ends_with(open_end))
    {
        scalar.to_mut().pop();
    }
    scalar
}

/// The scalar as a slice of the text, where it stands there as it is: the parser's own copy has many times its size. The index is
/// that of a character, which is the byte's in most texts.
fn slice<'t>(text: &'t str, scalar: Cow<'_, str>, index: usize) -> Cow<'t, str> {
    // Behind a quote, if there is one.
    let starts = [index, index + 1].into_iter();
    let mut found = starts.filter_map(|start| text.get(start..start + scalar.len()));
    match found.find(|found| *found == scalar) {
        Some(found) => Cow::Borrowed(found),
        None => Cow::Owned(scalar.into_owned()),
    }
}

fn null<'t>(span: Span) -> Node<'t> {
    Node { span, value: Value::Scalar { text: Cow::Borrowed(""), plain: true } }
}

fn to_span(marks: Marks) -> Span {
    Span { start: to_position(&marks.start), end: to_position(&marks.end) }
}

fn to_position(marker: &Marker) -> Position {
    Position { line: marker.line().max(1) as u32, column: marker.col() as u32 + 1 }
}

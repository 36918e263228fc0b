//! Keys that nmstate accepts and drops. Most of its sections refuse unknown keys, some do not: there a
//! misspelt key is lost without a word, on a node too.

use std::collections::HashMap;
use std::sync::{LazyLock, PoisonError, RwLock};

use nmgen_document::diagnostic::Diagnostics;
use nmgen_document::text::Span;
use nmgen_document::{Document, Entry, Node, Path, Step, Value};

use super::IGNORED_FIELD;
use super::effort::Effort;
use super::locate::{IDENTITY, Judge};
use crate::check::whole_interface::is_type;
#[cfg(feature = "hints")]
use crate::state::State;

/// Whether nmstate drops a kind of key. The answers are nmstate's and never change; a fleet's hosts share them.
static ANSWERS: LazyLock<RwLock<HashMap<String, bool>>> = LazyLock::new(RwLock::default);

/// Warns of each key that nmstate drops, in a document that it accepts. `learn` is called before the first question.
pub(super) fn check(
    document: &Document<'_>,
    learn: &dyn Fn(),
    judge: Judge,
    diagnostics: &mut Diagnostics,
) {
    let effort = Effort::new();
    let mut search = Search { document, learn: Some(learn), judge, effort, diagnostics };
    for part in parts(&document.root) {
        search.part(&part);
    }
}

/// A part that nmstate judges alone.
struct Part<'n, 't> {
    /// The keys above it.
    around: Path,
    /// Its path in the document.
    at: Path,
    node: &'n Node<'t>,
}

/// Each mapping of a list, such as `interfaces` or `routes.config`, on its own, and each section that has no list.
fn parts<'n, 't>(root: &'n Node<'t>) -> Vec<Part<'n, 't>> {
    let mut parts = Vec::new();
    for section in root.entries() {
        let path = Path::default().key(&section.key);
        parts.extend(items(&path, &section.node));
        for Entry { key, node, .. } in section.node.entries() {
            let path = path.key(key);
            match node.items() {
                [] => parts.push(Part { around: path.clone(), at: path, node }),
                _ => parts.extend(items(&path, node)),
            }
        }
    }
    parts
}

fn items<'n, 't>(list: &Path, node: &'n Node<'t>) -> impl Iterator<Item = Part<'n, 't>> {
    let mappings = node.items().iter().enumerate().filter(|(_, item)| !item.entries().is_empty());
    mappings.map(|(index, node)| Part { around: list.clone(), at: list.index(index), node })
}

impl<'n> Part<'n, '_> {
    fn kind(&self) -> &'n str {
        self.node.text_at("type").unwrap_or_default()
    }

    /// Its keys that nmstate is not known to read, each before the keys below it. Without the keys that select the part's
    /// schema.
    fn keys(&self) -> Vec<Key> {
        let answers = ANSWERS.read().unwrap_or_else(PoisonError::into_inner);
        let shape = format!("{} {}", self.around, self.kind());
        let mut collection = Collection { answers: &answers, shape, keys: Vec::new() };
        collection.node(self.node, &Trail::Part);
        collection.keys
    }
}

/// Takes note of the keys that nmstate writes: it reads them. The others are asked for one by one, which takes longer.
#[cfg(feature = "hints")]
pub(super) fn learn(state: &State) {
    let Ok(written) = state.written() else { return };
    let keys: Vec<Key> = parts(&written).iter().flat_map(Part::keys).collect();
    let mut answers = ANSWERS.write().unwrap_or_else(PoisonError::into_inner);
    answers.extend(keys.into_iter().map(|key| (key.shape, false)));
}

struct Search<'s, 't> {
    document: &'s Document<'t>,
    /// Until it is called.
    learn: Option<&'s dyn Fn()>,
    judge: Judge,
    effort: Effort,
    diagnostics: &'s mut Diagnostics,
}

impl Search<'_, '_> {
    fn part(&mut self, part: &Part<'_, '_>) {
        let Part { around, at, node } = part;
        // nmstate learns the type of an interface without one on the node, and its fields with it. A type that it does not know has
        // any field.
        if !is_type(part.kind()) && *around == Path::default().key("interfaces") {
            return;
        }
        let mut keys = part.keys();
        if !keys.is_empty()
            && let Some(learn) = self.learn.take()
        {
            learn();
            keys = part.keys();
        }
        let mut question: Option<Question> = None;
        let mut dropped: Option<Path> = None;
        for Key { path, shape } in keys {
            // The keys below one follow it.
            if dropped.as_ref().is_some_and(|above| path.starts_with(above)) {
                continue;
            }
            let known = ANSWERS.read().unwrap_or_else(PoisonError::into_inner).get(&shape).copied();
            let is_dropped = known.unwrap_or_else(|| {
                if self.effort.is_spent() {
                    return false;
                }
                let mut ask = |document: &Node<'_>| {
                    self.effort.spend(document) && (self.judge)(document).is_ok()
                };
                let question = question.get_or_insert_with(|| {
                    Question::new(around, around != at, Node::clone(node).into_owned(), &mut ask)
                });
                if !question.is_accepted {
                    return false;
                }
                let is_dropped = question.is_dropped(&path, ask);
                ANSWERS.write().unwrap_or_else(PoisonError::into_inner).insert(shape, is_dropped);
                is_dropped
            });
            if is_dropped {
                self.report(at, &path, node.text_at("state") == Some("absent"));
                dropped = Some(path);
            }
        }
    }

    fn report(&mut self, at: &Path, path: &Path, is_absent: bool) {
        let Some((Step::Key(key), _)) = path.split_last() else { return };
        let whole = below(at, path);
        let place = match self.document.key_span(&whole) {
            Some(span) => self.document.place(span),
            None => self.document.place_at(&whole),
        };
        let above = whole.split_last().map(|(_, above)| above.to_string()).unwrap_or_default();
        let (message, help) = match is_absent {
            true => (
                format!("nmstate ignores \"{key}\" in {above}, whose state is absent"),
                "remove it: an interface that goes needs its name and its type alone",
            ),
            false => (
                format!("NMState has no field \"{key}\" in {above}, and nmstate ignores it"),
                "correct its name, or remove it: it has no effect on a node either",
            ),
        };
        self.diagnostics.add(IGNORED_FIELD, place, message, help);
    }
}

/// A key in a part; keys of one shape have one meaning.
struct Key {
    path: Path,
    shape: String,
}

/// The way from a part to a value. Becomes a path only if there is something to ask or to tell: a fleet has millions of
/// keys.
enum Trail<'a> {
    Part,
    Key(&'a Trail<'a>, &'a str),
    Item(&'a Trail<'a>, usize),
}

impl Trail<'_> {
    fn path(&self) -> Path {
        match self {
            Self::Part => Path::default(),
            Self::Key(above, key) => above.path().key(key),
            Self::Item(above, index) => above.path().index(*index),
        }
    }
}

/// Maps of an interface's `ovs-db`: nmstate reads every key of theirs, with a value of any shape, and refuses their neighbours.
const FREE_MAPS: &[&str] = &["external_ids", "other_config"];

struct Collection<'a> {
    answers: &'a HashMap<String, bool>,
    /// Shape of the value that is visited.
    shape: String,
    keys: Vec<Key>,
}

impl Collection<'_> {
    fn node(&mut self, node: &Node<'_>, at: &Trail<'_>) {
        let is_free = matches!(at, Trail::Key(Trail::Part, "ovs-db"));
        for entry in node.entries() {
            if is_free && FREE_MAPS.contains(&&*entry.key) {
                continue;
            }
            let (trail, length) = (Trail::Key(at, &entry.key), self.shape.len());
            self.shape.push(' ');
            self.shape.push_str(&entry.key);
            let is_identity = matches!(at, Trail::Part) && IDENTITY.contains(&&*entry.key);
            if !is_identity && self.answers.get(&self.shape) != Some(&false) {
                self.keys.push(Key { path: trail.path(), shape: self.shape.clone() });
            }
            self.node(&entry.node, &trail);
            self.shape.truncate(length);
        }
        for (index, item) in node.items().iter().enumerate() {
            self.node(item, &Trail::Item(at, index));
        }
    }
}

/// A document with nothing but one part, for questions about its keys.
struct Question {
    document: Node<'static>,
    /// The part's path in it.
    part: Path,
    /// Whether nmstate accepts the part as it is.
    is_accepted: bool,
}

impl Question {
    /// A part below these keys, which may be the item of a list.
    fn new(
        around: &Path,
        is_item: bool,
        part: Node<'static>,
        ask: impl FnOnce(&Node<'_>) -> bool,
    ) -> Self {
        let span = part.span;
        let list = |node| Node { span, value: Value::Sequence(vec![node]) };
        let (inner, part) = match is_item {
            true => (list(part), around.index(0)),
            false => (part, around.clone()),
        };
        let document = around.steps().iter().rev().fold(inner, |node, step| match step {
            Step::Key(key) => {
                let entry = Entry { key: key.to_string().into(), key_span: span, node };
                Node { span, value: Value::Mapping(vec![entry]) }
            }
            Step::Index(_) => list(node),
        });
        Self { is_accepted: ask(&document), document, part }
    }

    /// Whether nmstate accepts any value in this place of the part.
    fn is_dropped(&mut self, path: &Path, mut ask: impl FnMut(&Node<'_>) -> bool) -> bool {
        let at = below(&self.part, path);
        let Some(node) = self.document.find_mut(&at) else { return false };
        let own = node.take();
        let is_dropped = absurd(own.span).into_iter().all(|value| {
            if let Some(node) = self.document.find_mut(&at) {
                node.value = value;
            }
            ask(&self.document)
        });
        if let Some(node) = self.document.find_mut(&at) {
            *node = own;
        }
        is_dropped
    }
}

/// The way to a value below the part at `part`.
fn below(part: &Path, path: &Path) -> Path {
    path.steps().iter().cloned().fold(part.clone(), |path, step| path.join(step))
}

/// Two values; no known field accepts both.
fn absurd(span: Span) -> [Value<'static>; 2] {
    let null = || Node { span, value: Value::Mapping(Vec::new()) };
    let entry = Entry { key: "?".into(), key_span: span, node: null() };
    [Value::Sequence(vec![null()]), Value::Mapping(vec![entry])]
}

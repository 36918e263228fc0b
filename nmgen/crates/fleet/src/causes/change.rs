//! Changes of a document that may mend a finding.

use nmgen_document::diagnostic::{Diagnostic, Place};
use nmgen_document::text::Span;
use nmgen_document::{Document, Entry, Node, Path, Step, Value};

use crate::confusable;

/// Words that nmstate takes where it refuses the absence of a value: a number or a name, addresses.
const ANY: &[&str] = &["1", "192.0.2.1", "2001:db8::1", "192.0.2.0/24"];

/// A part of a document that a finding may be about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    /// The key at the end of a path.
    Key(Path),
    /// A scalar.
    Value(Path),
}

impl At {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Key(path) | Self::Value(path) => path,
        }
    }

    /// The change to another word.
    fn other(&self, word: String) -> Change {
        match self {
            Self::Key(path) => Change::Key(path.clone(), word),
            Self::Value(path) => Change::Value(path.clone(), word),
        }
    }
}

/// A change of a document at one place.
pub(super) enum Change {
    /// The entry or item goes.
    Without(Path),
    /// Another scalar.
    Value(Path, String),
    /// Another key.
    Key(Path, String),
    /// A scalar under a key that is missing in a mapping.
    More(Path, String, &'static str),
    /// The entry goes into the mapping at the end of another path.
    Into(Path, Path),
}

impl Change {
    /// Applies it; false if it changes nothing.
    fn apply(&self, root: &mut Node<'_>) -> bool {
        match self {
            Self::Without(path) => remove(root, path),
            Self::Value(path, word) => match root.find_mut(path).map(|node| &mut node.value) {
                Some(Value::Scalar { text, .. }) => {
                    *text = word.clone().into();
                    true
                }
                _ => false,
            },
            Self::Key(path, word) => {
                let Some((Step::Key(key), around)) = path.split_last() else { return false };
                let Some(Node { value: Value::Mapping(entries), .. }) = root.find_mut(&around)
                else {
                    return false;
                };
                let is_free = !entries.iter().any(|entry| entry.key == **word);
                let entry = entries.iter_mut().find(|entry| entry.key == **key);
                let Some(entry) = entry.filter(|_| is_free) else { return false };
                entry.key = word.clone().into();
                true
            }
            Self::More(path, key, word) => {
                let Some(node) = root.find_mut(path) else { return false };
                let (span, key) = (node.span, key.clone().into());
                let Value::Mapping(entries) = &mut node.value else { return false };
                let value = Value::Scalar { text: (*word).into(), plain: true };
                entries.push(Entry { key, key_span: span, node: Node { span, value } });
                true
            }
            Self::Into(path, mapping) => {
                let Some((Step::Key(key), around)) = path.split_last() else { return false };
                let entry = root.find(&around).and_then(|around| around.entry(key)).cloned();
                let Some(entry) = entry.filter(|_| remove(root, path)) else { return false };
                match root.find_mut(mapping).map(|node| &mut node.value) {
                    Some(Value::Mapping(entries))
                        if entries.iter().all(|it| it.key != entry.key) =>
                    {
                        entries.push(entry);
                        true
                    }
                    _ => false,
                }
            }
        }
    }
}

fn remove(root: &mut Node<'_>, path: &Path) -> bool {
    let Some((last, around)) = path.split_last() else { return false };
    match (root.find_mut(&around).map(|node| &mut node.value), last) {
        (Some(Value::Mapping(entries)), Step::Key(key)) => {
            entries.retain(|entry| entry.key != **key);
            true
        }
        (Some(Value::Sequence(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}

/// One way to mend a finding. It has several changes only where an alias repeats the same place of the text.
pub(super) struct Way {
    pub(super) changes: Vec<Change>,
    /// The finding's own remedy proposes it.
    pub(super) is_meant: bool,
}

impl Way {
    /// True where nothing tells that it is meant: it may not have any new finding.
    pub(super) fn is_bold(&self) -> bool {
        self.changes.iter().any(|it| matches!(it, Change::Into(..)))
    }

    /// True for a place at or below a part that goes: what is told there may be another mistake.
    pub(super) fn takes_away(&self, path: &Path) -> bool {
        self.changes.iter().any(|it| matches!(it, Change::Without(gone) if path.starts_with(gone)))
    }

    /// True if no more than a scalar goes.
    pub(super) fn is_small(&self, root: &Node<'_>) -> bool {
        let is_scalar = |path| root.find(path).is_some_and(|node| node.text().is_some());
        self.changes.iter().all(|it| !matches!(it, Change::Without(path) if !is_scalar(path)))
    }

    /// Applies the changes; false if they change nothing.
    pub(super) fn apply(&self, root: &mut Node<'_>) -> bool {
        // From the end, so that the indices of a list stay true.
        let mut is_done = false;
        for change in self.changes.iter().rev() {
            is_done |= change.apply(root);
        }
        is_done
    }
}

/// The ways that may mend the cause, the likeliest first.
pub(super) fn ways(cause: &Diagnostic, root: &Node<'_>, places: &[(At, Place)]) -> Vec<Way> {
    let at: Vec<&At> =
        places.iter().filter(|(_, place)| *place == cause.place).map(|(at, _)| at).collect();
    let each = |change: &dyn Fn(&At) -> Option<Change>| -> Vec<Change> {
        at.iter().filter_map(|at| change(at)).collect()
    };
    let meant = [
        each(&|at| {
            let text = text(at, root).filter(|text| confusable::find(text).is_some())?;
            Some(at.other(confusable::plain(text)))
        }),
        each(&|at| Some(at.other(suggestion(cause)?.to_owned()))),
    ];
    let mut others = Vec::new();
    if let Some((_, rest)) = cause.message.split_once("missing field `")
        && let Some((key, _)) = rest.split_once('`')
    {
        others.extend(
            ANY.iter().map(|word| {
                each(&|at| Some(Change::More(mapping(at, root)?, key.to_owned(), word)))
            }),
        );
    }
    if cause.message.contains("has no field") {
        for path in at.iter().map(|at| at.path()) {
            let Some((_, around)) = path.split_last() else { continue };
            let beside = root.find(&around).map(Node::entries).unwrap_or_default();
            let into = beside.iter().map(|entry| around.key(&entry.key)).filter(|it| it != path);
            let above = around.split_last().map(|(_, above)| above);
            let into = into.chain(above).map(|into| vec![Change::Into(path.clone(), into)]);
            others.extend(into);
        }
    }
    others.push(each(&|at| Some(Change::Without(at.path().clone()))));
    others.extend(ANY.iter().map(|word| {
        each(&|at| {
            let is_value = matches!(at, At::Value(_)) || root.find(at.path())?.is_null();
            is_value.then(|| Change::Value(at.path().clone(), (*word).to_owned()))
        })
    }));
    let ways = |all: Vec<Vec<Change>>, is_meant| {
        all.into_iter().filter(|it| !it.is_empty()).map(move |changes| Way { changes, is_meant })
    };
    ways(meant.into(), true).chain(ways(others, false)).collect()
}

fn text<'n>(at: &'n At, root: &'n Node<'_>) -> Option<&'n str> {
    match at {
        At::Key(path) => match path.steps().last()? {
            Step::Key(key) => Some(key),
            Step::Index(_) => None,
        },
        At::Value(path) => root.find(path)?.text(),
    }
}

/// The path to a mapping by its key, or by the first key of an item.
fn mapping(at: &At, root: &Node<'_>) -> Option<Path> {
    match root.find(at.path())?.value {
        Value::Mapping(_) => Some(at.path().clone()),
        Value::Scalar { .. } | Value::Sequence(_) => Some(at.path().split_last()?.1),
    }
}

/// The word of `did you mean "bond"?`, with or without quotes.
pub(super) fn suggestion(finding: &Diagnostic) -> Option<&str> {
    let word = finding.help.as_deref()?.strip_prefix("did you mean ")?.strip_suffix('?')?;
    Some(word.trim_matches('"'))
}

/// The place of each key and each scalar.
pub(super) fn places(document: &Document<'_>) -> Vec<(At, Place)> {
    let mut places = Vec::new();
    visit(&document.root, &Path::default(), &mut |at, span| {
        places.push((at, document.place(span)));
    });
    places
}

fn visit(node: &Node<'_>, path: &Path, found: &mut impl FnMut(At, Span)) {
    match &node.value {
        Value::Scalar { .. } if node.is_null() => {}
        Value::Scalar { .. } => found(At::Value(path.clone()), node.span),
        Value::Sequence(items) => {
            for (index, item) in items.iter().enumerate() {
                visit(item, &path.index(index), found);
            }
        }
        Value::Mapping(entries) => {
            for entry in entries {
                let path = path.key(&entry.key);
                found(At::Key(path.clone()), entry.key_span);
                visit(&entry.node, &path, found);
            }
        }
    }
}

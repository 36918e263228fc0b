//! Finds the part of a document that nmstate refuses, by running nmstate on parts.

use nmgen_document::{Node, Path, Step, Value};

use super::effort::Effort;
#[cfg(feature = "hints")]
use super::field_place;
use super::words::BOOLEAN;
use crate::state::Refusal;

/// nmstate's verdict on a part of the document.
pub(super) type Judge = fn(&Node<'_>) -> Result<(), Refusal>;

/// A refusal in a document of a thousand interfaces takes about fifty.
const MAX_QUESTIONS: u32 = 200;

/// Returns the path of the smallest part that nmstate refuses for this reason, or whose removal changes the reason.
pub(super) fn guilty(value: &Node<'_>, reason: &str, judge: Judge, effort: &mut Effort) -> Path {
    // The initramfs's program asks nmstate instead: it is smaller without this.
    #[cfg(feature = "hints")]
    if let Some(place) = field_place::only(value, reason) {
        return place;
    }
    let mut search = Search { reason, judge, questions: 0, effort };
    search.descend(value.clone())
}

struct Search<'r> {
    reason: &'r str,
    judge: Judge,
    questions: u32,
    effort: &'r mut Effort,
}

impl Search<'_> {
    /// Descends from the root while a single child is at fault. Lists are cut to that item, which
    /// makes each further run cheap.
    fn descend(&mut self, mut value: Node<'_>) -> Path {
        let (mut at, mut found) = (Path::default(), Path::default());
        loop {
            let length = value.find(&at).and_then(|node| match &node.value {
                Value::Sequence(items) => Some(items.len()),
                Value::Scalar { .. } | Value::Mapping(_) => None,
            });
            let step = match length {
                Some(length) => match self.guilty_item(&value, &at, length) {
                    Some(index) => {
                        keep(&mut value, &at, index..index + 1);
                        at = at.index(0);
                        Some(Step::Index(index))
                    }
                    None => {
                        let steps = (0..length).map(Step::Index);
                        let step = self.guilty_child(&mut value, &at, steps);
                        at = step.iter().fold(at, |at, step| at.join(step.clone()));
                        step
                    }
                },
                None => {
                    let keys = value.find(&at).map(keys).unwrap_or_default();
                    let steps = keys.into_iter().map(|key| Step::Key(key.into()));
                    let step = self.guilty_child(&mut value, &at, steps);
                    at = step.iter().fold(at, |at, step| at.join(step.clone()));
                    step
                }
            };
            match step {
                Some(step) => found = found.join(step),
                None => return found,
            }
        }
    }

    /// The list item that is refused for this reason on its own.
    fn guilty_item(&mut self, value: &Node<'_>, list: &Path, length: usize) -> Option<usize> {
        let (mut from, mut to) = (0, length);
        while to - from > 1 {
            let middle = from + (to - from) / 2;
            if self.is_refused_alone(value, list, from..middle)? {
                to = middle;
            } else {
                from = middle;
            }
        }
        (length > 0 && self.is_refused_alone(value, list, from..to)?).then_some(from)
    }

    fn is_refused_alone(
        &mut self,
        value: &Node<'_>,
        list: &Path,
        range: std::ops::Range<usize>,
    ) -> Option<bool> {
        let mut alone = value.clone();
        keep(&mut alone, list, range);
        let verdict = self.ask(&alone)?;
        Some(verdict.is_err_and(|refusal| reason(&refusal) == self.reason))
    }

    /// The child whose removal removes or changes the refusal; a mapping may be cut to the one that is refused alone.
    fn guilty_child(
        &mut self,
        value: &mut Node<'_>,
        parent: &Path,
        steps: impl Iterator<Item = Step>,
    ) -> Option<Step> {
        let step = self.guilty_by_removal(value, parent, steps);
        // The removal of one of two faults with the same reason changes nothing, and without the type nmstate reads neither.
        let is_doubtful = match &step {
            Some(Step::Key(key)) => {
                IDENTITY.contains(&&**key) && !self.is_quoted(value.find(&parent.key(key)))
            }
            Some(Step::Index(_)) => false,
            None => {
                !is_missing_field(self.reason)
                    && value.find(parent).is_some_and(|node| !node.entries().is_empty())
            }
        };
        match is_doubtful && is_schema(self.reason) {
            true => self.guilty_alone(value, parent).or(step),
            false => step,
        }
    }

    /// Whether the reason quotes this scalar.
    fn is_quoted(&self, value: Option<&Node<'_>>) -> bool {
        let text = value.and_then(Node::text);
        text.is_some_and(|text| self.reason.contains(&format!("`{text}`")))
    }

    /// The key that is refused for this reason beside the keys that select the schema, or that of these which is refused by itself.
    fn guilty_alone(&mut self, value: &mut Node<'_>, parent: &Path) -> Option<Step> {
        let keys = value.find(parent).map(keys).unwrap_or_default();
        let others = keys.iter().filter(|key| !IDENTITY.contains(&key.as_str()));
        for key in std::iter::once(None).chain(others.map(Some)) {
            let mut alone = value.clone();
            if let Some(Value::Mapping(entries)) =
                alone.find_mut(parent).map(|node| &mut node.value)
            {
                entries.retain(|entry| {
                    IDENTITY.contains(&&*entry.key) || key.is_some_and(|key| entry.key == *key)
                });
            }
            if self.ask(&alone)?.is_err_and(|refusal| reason(&refusal) == self.reason) {
                let Some(key) = key else {
                    let identity = IDENTITY.iter().map(|key| Step::Key((*key).into()));
                    return self.guilty_by_removal(&alone, parent, identity);
                };
                *value = alone;
                return Some(Step::Key(key.as_str().into()));
            }
        }
        None
    }

    fn guilty_by_removal(
        &mut self,
        value: &Node<'_>,
        parent: &Path,
        steps: impl Iterator<Item = Step>,
    ) -> Option<Step> {
        let is_relation = !is_schema(self.reason);
        let mut candidates = Vec::new();
        let mut changed = Vec::new();
        for step in steps {
            let mut without = value.clone();
            remove(&mut without, &parent.join(step.clone()));
            match self.ask(&without)? {
                // Several values that contradict each other: each of them ends the refusal.
                Ok(()) if is_relation && matches!(step, Step::Key(_)) => candidates.push(step),
                Ok(()) => return Some(step),
                Err(other) => {
                    let other = reason(&other);
                    // After a missing field, removing another one only changes the name in the reason.
                    let is_guilty = words(&other) != words(self.reason)
                        && !(is_missing_field(self.reason) && is_missing_field(&other));
                    if is_guilty && !is_relation {
                        return Some(step);
                    }
                    changed.extend(is_guilty.then_some(step));
                }
            }
        }
        if let [only] = &candidates[..] {
            return Some(only.clone());
        }
        let is_named = |step: &&Step| matches!(step, Step::Key(key) if self.names(key));
        let named = candidates.iter().find(is_named).cloned();
        // Within an item of a list a removal may cause another refusal by itself.
        let is_top = !parent.steps().iter().any(|step| matches!(step, Step::Index(_)));
        let changed = match &changed[..] {
            [only] => Some(only),
            [first, ..] if is_top => Some(first),
            _ => None,
        };
        named.or_else(|| changed.filter(|_| candidates.is_empty()).cloned())
    }

    /// True if the refusal has the key's words.
    fn names(&self, key: &str) -> bool {
        self.reason.to_lowercase().contains(&key.to_lowercase())
    }

    fn ask(&mut self, value: &Node<'_>) -> Option<Result<(), Refusal>> {
        self.questions += 1;
        let is_allowed = self.questions <= MAX_QUESTIONS && self.effort.spend(value);
        is_allowed.then(|| (self.judge)(value))
    }
}

fn keep(value: &mut Node<'_>, list: &Path, range: std::ops::Range<usize>) {
    if let Some(Value::Sequence(items)) = value.find_mut(list).map(|node| &mut node.value) {
        items.truncate(range.end);
        items.drain(..range.start.min(items.len()));
    }
}

/// The refusal without what it quotes from the document, if it is a contradiction.
fn words(reason: &str) -> &str {
    if is_schema(reason) {
        return reason;
    }
    reason.split(['\'', '"', ':']).next().unwrap_or(reason)
}

/// True for a refusal of a key or a value by itself; others are about several values that contradict each other.
pub(super) fn is_schema(reason: &str) -> bool {
    const SERDE: &[&str] = &[
        "unknown field",
        "unknown variant",
        "missing field",
        "duplicate field",
        "invalid type",
        "invalid value",
        "invalid length",
    ];
    /// Messages of nmstate's own deserializers, and of the standard library's parser of numbers.
    const OWN: &[&str] = &[
        BOOLEAN,
        "Invalid feature value",
        "Invalid ipsec-interface value",
        "Invalid address protocol",
        "BridgePortTrunkTag",
        "Expecting ",
        "invalid digit found in string",
        "cannot parse integer",
        "number too large to fit",
        "number too small to fit",
    ];
    SERDE.iter().chain(OWN).any(|words| reason.contains(words))
}

pub(super) fn is_missing_field(reason: &str) -> bool {
    reason.contains("missing field")
}

/// nmstate's words without the position, which changes as parts are removed.
pub(super) fn reason(refusal: &Refusal) -> String {
    let text = &refusal.0;
    text.split(" at line ").next().unwrap_or(text).to_owned()
}

/// Keys that select the schema are removed last: without them nmstate accepts anything.
pub(super) const IDENTITY: &[&str] = &["name", "type", "state"];

fn keys(node: &Node<'_>) -> Vec<String> {
    let mut keys: Vec<String> = node.entries().iter().map(|entry| entry.key.to_string()).collect();
    keys.sort_by_key(|key| IDENTITY.contains(&key.as_str()));
    keys
}

pub(super) fn remove(value: &mut Node<'_>, path: &Path) {
    let Some((last, parent)) = path.split_last() else { return };
    match (value.find_mut(&parent).map(|node| &mut node.value), last) {
        (Some(Value::Mapping(entries)), Step::Key(key)) => {
            entries.retain(|entry| entry.key != **key);
        }
        (Some(Value::Sequence(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;
    use crate::interface;
    use nmgen_document::text::Source;

    fn parsed(text: &str) -> Node<'static> {
        let source = Source { name: "".into(), text: text.into() };
        let document = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        document.root.into_owned()
    }

    /// The part that is told for a contradiction.
    fn place(text: &str, judge: Judge) -> String {
        guilty(&parsed(text), "a contradiction", judge, &mut Effort::new()).to_string()
    }

    fn refused<T>(reason: &str) -> Result<T, Refusal> {
        Err(Refusal(reason.to_owned()))
    }

    #[test]
    fn where_nothing_ends_a_contradiction_its_first_part_is_told() {
        // Two values contradict each other, and what is left contradicts a third one.
        let judge: Judge = |root| match (root.get("b"), root.get("c")) {
            (Some(_), Some(_)) => refused("a contradiction"),
            _ => refused("another one"),
        };
        assert_eq!(place("{a: 1, b: 1, c: 1}", judge), "b");
    }

    #[test]
    fn in_an_item_a_part_is_told_if_it_is_the_only_one() {
        fn has(root: &Node<'_>, key: &str) -> bool {
            let items = interface::all(root);
            items.iter().any(|item| item.get(key).is_some())
        }
        let text = "interfaces: [{a: 1, b: 1}, {a: 1, b: 1, c: 1}]";
        assert_eq!(
            place(text, |root| match has(root, "c") {
                true => refused("a contradiction"),
                false => refused("another one"),
            }),
            "interfaces[1].c"
        );
    }

    #[test]
    fn the_questions_are_bounded() {
        static ASKED: AtomicU32 = AtomicU32::new(0);
        let keys: Vec<String> = (0..2 * MAX_QUESTIONS).map(|key| format!("k{key}: 1")).collect();
        let found = place(&keys.join("\n"), |_| {
            ASKED.fetch_add(1, Ordering::Relaxed);
            refused("a contradiction")
        });
        assert_eq!((found.as_str(), ASKED.load(Ordering::Relaxed)), ("", MAX_QUESTIONS));
    }

    #[test]
    fn a_path_that_leads_nowhere_removes_nothing() {
        let whole = parsed("a: [1]");
        for path in
            [Path::default(), Path::default().key("a").index(1), Path::default().key("b").index(0)]
        {
            let mut value = whole.clone();
            remove(&mut value, &path);
            assert!(value.means_the_same(&whole), "{path}");
        }
    }
}

//! Finds the part of a document that nmstate refuses, by asking it about parts.

use serde_yaml::Value;

use super::Judge;
use crate::document::{Path, Step};
use crate::state::Refusal;

/// So many questions at most: a refusal in a document of a thousand interfaces takes about fifty.
const MAX_QUESTIONS: u32 = 300;

/// The smallest part that nmstate refuses for this reason, or without which it has another one.
pub(super) fn guilty(value: &Value, reason: &str, judge: Judge) -> Path {
    let mut search = Search { reason, judge, questions: 0 };
    search.descend(value.clone())
}

struct Search<'r> {
    reason: &'r str,
    judge: Judge,
    questions: u32,
}

impl Search<'_> {
    /// From the root down, for as long as one child can be blamed. Lists are cut down to the one item on
    /// the way, which makes every further question cheap.
    fn descend(&mut self, mut value: Value) -> Path {
        let (mut at, mut found) = (Path::default(), Path::default());
        loop {
            let length = find(&value, &at).and_then(Value::as_sequence).map(Vec::len);
            let step = match length {
                Some(length) => match self.guilty_item(&value, &at, length) {
                    Some(index) => {
                        keep(&mut value, &at, index..index + 1);
                        at = at.index(0);
                        Some(Step::Index(index))
                    }
                    None => {
                        let step = self.guilty_child(&value, &at, (0..length).map(Step::Index));
                        at = step.iter().fold(at, |at, step| at.join(step.clone()));
                        step
                    }
                },
                None => {
                    let keys = find(&value, &at).map(keys).unwrap_or_default();
                    let steps = keys.into_iter().map(|key| Step::Key(key.into()));
                    let step = self.guilty_child(&value, &at, steps);
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

    /// The list item that is refused for this reason when it is alone.
    fn guilty_item(&mut self, value: &Value, list: &Path, length: usize) -> Option<usize> {
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
        value: &Value,
        list: &Path,
        range: std::ops::Range<usize>,
    ) -> Option<bool> {
        let mut alone = value.clone();
        keep(&mut alone, list, range);
        let verdict = self.ask(alone)?;
        Some(verdict.is_err_and(|refusal| reason(&refusal) == self.reason))
    }

    /// The child without which there is no refusal, or another one.
    fn guilty_child(
        &mut self,
        value: &Value,
        parent: &Path,
        steps: impl Iterator<Item = Step>,
    ) -> Option<Step> {
        for step in steps {
            let mut without = value.clone();
            remove(&mut without, &parent.join(step.clone()));
            let is_guilty = match self.ask(without)? {
                Ok(()) => true,
                // Where a field is missing, taking another one away only changes which.
                Err(other) => {
                    let other = reason(&other);
                    other != self.reason
                        && !(is_missing_field(self.reason) && is_missing_field(&other))
                }
            };
            if is_guilty {
                return Some(step);
            }
        }
        None
    }

    fn ask(&mut self, value: Value) -> Option<Result<(), Refusal>> {
        self.questions += 1;
        (self.questions <= MAX_QUESTIONS).then(|| (self.judge)(value))
    }
}

fn keep(value: &mut Value, list: &Path, range: std::ops::Range<usize>) {
    if let Some(Value::Sequence(items)) = find_mut(value, list) {
        items.truncate(range.end);
        items.drain(..range.start.min(items.len()));
    }
}

fn find_mut<'v>(value: &'v mut Value, path: &Path) -> Option<&'v mut Value> {
    path.steps().iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(&**key),
        Step::Index(index) => value.get_mut(*index),
    })
}

pub(super) fn is_missing_field(reason: &str) -> bool {
    reason.contains("missing field")
}

/// nmstate's words without the position, which changes as parts are removed.
pub(super) fn reason(refusal: &Refusal) -> String {
    let text = &refusal.0;
    text.split(" at line ").next().unwrap_or(text).to_owned()
}

/// What says which schema the rest must follow comes last: without it nmstate believes anything.
const IDENTITY: &[&str] = &["name", "type", "state"];

fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Mapping(mapping) => {
            let mut keys: Vec<String> = mapping.keys().filter_map(scalar_text).collect();
            keys.sort_by_key(|key| IDENTITY.contains(&key.as_str()));
            keys
        }
        Value::Sequence(_)
        | Value::Tagged(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_) => Vec::new(),
    }
}

fn scalar_text(key: &Value) -> Option<String> {
    match key {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(boolean) => Some(boolean.to_string()),
        Value::Null | Value::Sequence(_) | Value::Mapping(_) | Value::Tagged(_) => None,
    }
}

fn find<'v>(value: &'v Value, path: &Path) -> Option<&'v Value> {
    path.steps().iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(&**key),
        Step::Index(index) => value.get(*index),
    })
}

pub(super) fn remove(value: &mut Value, path: &Path) {
    let Some((last, parent)) = path.split_last() else { return };
    match (find_mut(value, &parent), last) {
        (Some(Value::Mapping(mapping)), Step::Key(key)) => {
            mapping.shift_remove(&**key);
        }
        (Some(Value::Sequence(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
        }
        _ => {}
    }
}

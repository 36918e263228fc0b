//! Values within a manifest that the manifest's readers and nmstate read differently.

use nmgen_core::state::{Refusal, State};
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, Place, Rule, Severity, rules};
use nmgen_document::{Document, Node, Path, Step, Value, yaml_1_1};

rules! {
    error YAML_DIALECT = "yaml-dialect";
}

/// Bounds the findings of a document.
const MAX_FOUND: usize = 20;

/// Bounds the values that nmstate reads for all questions about a document. A question costs as many as [`QUESTION`] besides.
const MOST_VALUES: usize = 250_000;
const QUESTION: usize = 1_000;

/// A value of a document, as the manifest's readers write it again.
struct Rewritten {
    path: Path,
    reading: String,
}

type Read = Result<State, Refusal>;

/// Reports values that nmstate would read otherwise if it read the file itself, and leaves them as they are. Values that
/// nmstate refuses, and gets in another form, have that form from then on.
pub(super) fn resolve(root: &mut Node<'_>, manifest: &Document<'_>) -> Diagnostics {
    let mut found = Vec::new();
    let mut values = Vec::new();
    let count = collect(root, &Path::default(), &mut values);
    if values.is_empty() {
        return Diagnostics::default();
    }
    let text = |root: &Node<'_>, value: &Rewritten| {
        root.find(&value.path).and_then(Node::text).unwrap_or_default().to_owned()
    };
    let mut before = State::parse(root);
    // nmstate refuses `1_500` and some `yes`, and gets a number and a boolean.
    for has_words in [false, true] {
        if before.is_ok() {
            break;
        }
        let (meant, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|value| {
            let is_word = value.reading.starts_with(['t', 'f']);
            text(root, value).contains('_') || has_words && is_word
        });
        let candidate = rewritten(root, &meant);
        let after = State::parse(&candidate);
        values = others;
        match after {
            Ok(_) => (*root, before) = (candidate, after),
            Err(_) => values.extend(meant),
        }
    }
    match &before {
        Ok(_) => {
            let mut questions = MOST_VALUES / (QUESTION + count);
            differing(root, &before, &values, &mut questions, &mut found);
        }
        // A policy's captures, or another fault: nmstate has no answer.
        Err(_) => found.extend(numbers(&values)),
    }
    let diagnostic = |value: &&Rewritten| {
        let span = root.find(&value.path).map_or(root.span, |node| node.span);
        let is_free = value.path.steps().iter().any(|step| {
            matches!(step, Step::Key(key) if matches!(&**key, "external_ids" | "other_config"))
        });
        let severity = if is_free { Severity::Warning } else { Severity::Error };
        let rule = Rule { severity, ..YAML_DIALECT };
        let shown = |text: &str| value.path.shown(text);
        difference(rule, &shown(&text(root, value)), &shown(&value.reading), manifest.place(span))
    };
    found.iter().take(MAX_FOUND).map(diagnostic).collect()
}

/// The finding about a text of the manifest itself.
pub(super) fn of_text(node: &Node<'_>, place: impl FnOnce() -> Place) -> Option<Diagnostic> {
    let Value::Scalar { text, plain: true } = &node.value else { return None };
    let reading = yaml_1_1::reading(text)?;
    Some(difference(YAML_DIALECT, text, &reading, place()))
}

fn difference(rule: Rule, text: &str, reading: &str, place: Place) -> Diagnostic {
    let message = format!("{text} is {reading} to the readers of this file, and {text} to nmstate");
    let help = format!(
        "write \"{text}\" within quotes, or {reading} if that is meant: they read YAML 1.1"
    );
    Diagnostic::new(rule, message, place).help(help)
}

/// Returns the number of values below and including the node, and collects those that are read otherwise.
fn collect(node: &Node<'_>, path: &Path, found: &mut Vec<Rewritten>) -> usize {
    let below = match &node.value {
        Value::Scalar { text, plain: true } => {
            let reading = yaml_1_1::reading(text);
            found.extend(reading.map(|reading| Rewritten { path: path.clone(), reading }));
            0
        }
        Value::Scalar { .. } => 0,
        Value::Sequence(items) => {
            let items = items.iter().enumerate();
            items.map(|(index, item)| collect(item, &path.index(index), found)).sum::<usize>()
        }
        Value::Mapping(entries) => {
            let entries = entries.iter();
            entries.map(|entry| collect(&entry.node, &path.key(&entry.key), found)).sum::<usize>()
        }
    };
    1 + below
}

/// Returns the values that are numbers: in doubt they make a difference.
fn numbers(values: &[Rewritten]) -> impl Iterator<Item = &Rewritten> {
    values.iter().filter(|value| value.reading.parse::<u64>().is_ok())
}

/// The values that make a difference to nmstate, by halves.
fn differing<'v>(
    root: &Node<'_>,
    before: &Read,
    values: &'v [Rewritten],
    questions: &mut usize,
    found: &mut Vec<&'v Rewritten>,
) {
    if values.is_empty() || found.len() >= MAX_FOUND {
        return;
    }
    let Some(left) = questions.checked_sub(1) else {
        found.extend(numbers(values));
        return;
    };
    *questions = left;
    if State::parse(&rewritten(root, values)) == *before {
        return;
    }
    match values {
        [value] => found.push(value),
        _ => {
            let (first, second) = values.split_at(values.len() / 2);
            differing(root, before, first, questions, found);
            differing(root, before, second, questions, found);
        }
    }
}

fn rewritten<'t>(root: &Node<'t>, values: &[Rewritten]) -> Node<'t> {
    let mut root = root.clone();
    for value in values {
        if let Some(node) = root.find_mut(&value.path) {
            node.value = Value::Scalar { text: value.reading.clone().into(), plain: true };
        }
    }
    root
}

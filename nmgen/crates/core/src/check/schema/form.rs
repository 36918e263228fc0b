//! The form of a value that nmstate expects instead of one that it refuses.

use nmgen_document::{Entry, Node, Path, Step, Value};

use super::locate::{Judge, is_missing_field, reason};
use super::{misplaced, unknown_variant, words};
use crate::state::Refusal;

/// Names of the kernel's routing tables with their numbers (iproute2's `rt_tables`).
const TABLES: &[(&str, &str)] = &[("default", "253"), ("local", "255"), ("main", "254")];

/// Returns the list around the fault and its refusal, if nmstate takes it for a mapping's fields in their order: nmstate's words
/// about the items contradict those about the list.
pub(super) fn list_of_fields(
    root: &Node<'_>,
    path: Path,
    refusal: Refusal,
    judge: Judge,
) -> (Path, Refusal) {
    let lists = (1..=path.steps().len()).filter_map(|length| {
        let list = path.up_to(length);
        let Node { span, value: Value::Sequence(_) } = root.find(&list)? else { return None };
        let (Step::Key(key), around) = list.split_last()? else { return None };
        let node = Node { span: *span, value: Value::Sequence(Vec::new()) };
        let entry = Entry { key: key.to_string().into(), key_span: *span, node };
        let kind = misplaced::kind(root, &around);
        let refusal = judge(&misplaced::at(around.steps(), kind, entry)).err()?;
        words::plain(&refusal.0).ends_with(words::LIST).then_some((list, refusal))
    });
    { lists }.next().unwrap_or((path, refusal))
}

/// Returns how to write the value, if nmstate takes it in that form, or the words that it takes.
pub(super) fn expected(root: &Node<'_>, path: &Path, judge: Judge) -> Option<String> {
    let node = root.find(path)?;
    let (Step::Key(key), around) = path.split_last()? else { return None };
    // A small document: the whole one may be a mebibyte, and have other faults.
    let refusal = |value: Value<'static>| {
        let kind = misplaced::kind(root, &around);
        let node = Node { span: node.span, value };
        let entry = Entry { key: key.to_string().into(), key_span: node.span, node };
        judge(&misplaced::at(around.steps(), kind, entry)).err().map(|refusal| reason(&refusal))
    };
    let takes = |value| refusal(value).is_none_or(|reason| is_missing_field(&reason));
    match &node.value {
        Value::Mapping(entries) => {
            let first = &entries.first()?.key;
            let list = Value::Sequence(vec![node.clone().into_owned()]);
            takes(list)
                .then(|| format!("it is a list: an item begins with '-', as in \"- {first}\""))
        }
        Value::Scalar { .. } => of_text(key, node, takes, refusal),
        Value::Sequence(items) => {
            let config = Node { span: node.span, value: Value::Sequence(Vec::new()) };
            if misplaced::takes(path.steps(), misplaced::kind(root, path), "config", &config, judge)
            {
                return Some("put the list under its key `config`".to_owned());
            }
            let [only @ Node { value: Value::Mapping(_), .. }] = &items[..] else { return None };
            takes(only.clone().into_owned().value)
                .then(|| "it is no list: remove the '-'".to_owned())
        }
    }
}

fn of_text(
    key: &str,
    node: &Node<'_>,
    takes: impl Fn(Value<'static>) -> bool,
    refusal: impl Fn(Value<'static>) -> Option<String>,
) -> Option<String> {
    let text = node.text()?;
    let word = |text: &str| Value::Scalar { text: text.to_owned().into(), plain: true };
    let entry = |key: &'static str, text: &str| Entry {
        key: key.into(),
        key_span: node.span,
        node: Node { span: node.span, value: word(text) },
    };
    if let Some((_, number)) = TABLES.iter().find(|(name, _)| *name == text) {
        return takes(word(number)).then(|| format!("the table {text} has the number {number}"));
    }
    if matches!(text, "true" | "false") && takes(Value::Mapping(vec![entry("enabled", text)])) {
        return Some(format!("write \"{key}:\", and below it \"enabled: {text}\""));
    }
    if let Some((min, max)) = text.split_once('-') {
        let (min, max) = (min.trim(), max.trim());
        let range = Value::Mapping(vec![entry("min", min), entry("max", max)]);
        return takes(range).then(|| format!("write {{min: {min}, max: {max}}}"));
    }
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    if !digits.is_empty() && digits.len() < text.len() && digits.bytes().all(|b| b.is_ascii_digit())
    {
        return takes(word(digits)).then(|| format!("write {digits}: the unit is always the same"));
    }
    let item = Node { span: node.span, value: word(text) };
    if takes(Value::Sequence(vec![item])) {
        return Some(format!("it is a list: write \"- {text}\" below it"));
    }
    let refused = refusal(word("no-such-word"))?;
    let (_, words) = unknown_variant(&refused)?;
    // One of them is refused for another reason.
    (!words.contains(&text)).then(|| format!("it is one of {}", words.join(", ")))
}

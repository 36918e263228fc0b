//! nmstate's own verdict, with the place, which nmstate doesn't report.
//!
//! The place is found by running nmstate on parts of the document: a part is at fault when nmstate
//! doesn't refuse the rest for the same reason. Nothing here knows NMState's schema.

mod contradiction;
mod effort;
#[cfg(feature = "hints")]
mod field_place;
#[cfg(feature = "hints")]
mod form;
mod ignored;
mod known;
mod locate;
#[cfg(feature = "hints")]
mod misplaced;
mod nearest;
mod words;

use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::spelling::is_alike;
use nmgen_document::{Document, Node, Path, Step, Value};

use self::effort::Effort;
use self::known::missing_field;
use self::locate::{Judge, guilty, is_missing_field, is_schema, reason, remove};
use self::nearest::{field_of_interface, nearest};
use self::words::{BOOLEAN, UNTAGGED, unknown_field};
use crate::check::whole_interface::is_type;
use crate::interface::DESIRED;
use crate::state::{Refusal, State};

rules! {
    pub(super) error UNKNOWN_FIELD = "unknown-field";
    warning IGNORED_FIELD = "ignored-field";
    error MISSING_FIELD = "missing-field";
    pub(super) error INVALID_VALUE = "invalid-value";
    error REFUSED = "refused-by-nmstate";
    pub(super) warning EMPTY_DOCUMENT = "empty-document";
}

/// Later faults are not searched: each costs many runs of nmstate.
const MAX_FAULTS: usize = 100;

/// The keys around a state in nmstate's policies.
const POLICY: [&str; 3] = ["capture", DESIRED[0], DESIRED[1]];

/// True if the document has the keys of one of nmstate's policies.
pub fn is_policy(document: &Document<'_>) -> bool {
    POLICY.iter().any(|key| document.root.entry(key).is_some())
}

/// Runs nmstate on the document. Each fault is reported once, then removed to find the next. The
/// values at the paths in `known` are removed first, since rules have reported them in better words.
pub(super) fn parse(
    document: &Document<'_>,
    known: Vec<Path>,
    diagnostics: &mut Diagnostics,
) -> Option<State> {
    match State::parse(&document.root) {
        Ok(state) => {
            if state.is_empty() {
                diagnostics.push(empty(document));
            }
            let judge: Judge = |root| State::parse(root).map(drop);
            ignored::check(document, &|| learn(&state), judge, diagnostics);
            Some(state)
        }
        Err(first) => {
            let judge: Judge = |root| State::parse(root).map(drop);
            // Enough for a first run.
            if known.len() >= MAX_FAULTS {
                return None;
            }
            report_all(document, &first, known, judge, Effort::new(), diagnostics);
            None
        }
    }
}

/// Saves most questions about the document's keys.
fn learn(state: &State) {
    #[cfg(feature = "hints")]
    ignored::learn(state);
    #[cfg(not(feature = "hints"))]
    let _ = state;
}

/// The diagnostic for a valid document that nmstate refuses to convert.
pub fn refusal(document: &Document<'_>, refusal: &Refusal) -> Diagnostics {
    let refusal = contradiction::in_order(refusal);
    let mut diagnostics = Diagnostics::default();
    let effort = Effort::of_conversions();
    report_all(document, &refusal, Vec::new(), contradiction::judge, effort, &mut diagnostics);
    diagnostics
}

/// What contradicts itself in a document that a node is to apply.
pub(super) fn contradictions(document: &Document<'_>) -> Diagnostics {
    let mut diagnostics = Diagnostics::default();
    if let Err(first) = contradiction::judge_alone(&document.root) {
        let effort = Effort::of_conversions();
        let judge = contradiction::judge_alone;
        report_all(document, &first, Vec::new(), judge, effort, &mut diagnostics);
    }
    diagnostics
}

fn empty(document: &Document<'_>) -> Diagnostic {
    Diagnostic::new(
        EMPTY_DOCUMENT,
        "the document configures nothing",
        document.place(document.root.span),
    )
    .help("an NMState document has interfaces, routes, dns-resolver and the like")
}

fn report_all(
    document: &Document<'_>,
    first: &Refusal,
    known: Vec<Path>,
    judge: Judge,
    mut effort: Effort,
    diagnostics: &mut Diagnostics,
) {
    if let Value::Sequence(items) = &document.root.value {
        diagnostics.push(list(document, items));
        return;
    }
    let mut value = document.root.clone();
    // Paths in the shrinking copy are translated back to those of the document.
    let mut removed: Vec<Path> = Vec::new();
    let mut verdict = judge(&value);
    if verdict.is_ok() {
        diagnostics.push(diagnostic(document, &Path::default(), first, judge));
        return;
    }
    let mut taken = Vec::new();
    // Told keys: the mapping around each, and the remedy.
    let mut meant = Vec::new();
    if !known.is_empty() {
        (taken, verdict) = known::take_out(&mut value, known, judge, &mut removed);
    }
    let mut faults = 0;
    while let Err(refusal) = verdict {
        let reason = reason(&refusal);
        // A contradiction in what is left may come from the removals.
        if faults > 0 && !is_schema(&reason) {
            return;
        }
        let path = to_fault(guilty(&value, &reason, judge, &mut effort), &reason, &value);
        #[cfg(feature = "hints")]
        let (path, refusal) = form::list_of_fields(&value, path, refusal, judge);
        let at = original(&path, &removed);
        // nmstate reports one fault at a time, so a removed field may be reported as missing later.
        let is_taken = |key: &str| taken.contains(&at.key(key));
        let is_meant = |key: &str| meant.iter().any(|told_key| is_meant(told_key, &at, key));
        if !missing_field(&refusal.0).is_some_and(|key| is_taken(key) || is_meant(key)) {
            let diagnostic = diagnostic(document, &at, &refusal, judge);
            if let (Some((_, around)), Some(help)) = (at.split_last(), &diagnostic.help) {
                meant.push((around, help.clone()));
            }
            diagnostics.push(diagnostic);
        }
        taken.push(at);
        faults += 1;
        if path.steps().is_empty() || faults >= MAX_FAULTS || !effort.spend(&value) {
            return;
        }
        (value, verdict) = without(value, path, judge, &mut removed);
    }
}

/// A list in place of a document: one mistake, whatever its items are.
fn list(document: &Document<'_>, items: &[Node<'_>]) -> Diagnostic {
    let has = |key: &str| items.first().is_some_and(|first| first.entry(key).is_some());
    let help = match () {
        () if has("apiVersion") => {
            "separate objects by lines of \"---\", or give them as the items of a List"
        }
        () if has("next-hop-address") => "it belongs under routes.config",
        () => "it belongs under a key: interfaces, for example",
    };
    let message = "a list, where a mapping is expected";
    Diagnostic::new(REFUSED, message, document.place(document.root.span)).help(help)
}

/// True if the missing field is the remedy of a key in the same mapping, which is one mistake.
fn is_meant((around, remedy): &(Path, String), at: &Path, missing: &str) -> bool {
    let names = [format!("did you mean \"{missing}\""), format!("field is {missing}")];
    around == at && names.iter().any(|name| remedy.contains(name))
}

/// The document without one part, and nmstate's verdict on it. If the part is a required field,
/// everything that requires it goes too: its absence is not the document's fault.
fn without<'t>(
    mut value: Node<'t>,
    path: Path,
    judge: Judge,
    removed: &mut Vec<Path>,
) -> (Node<'t>, Result<(), Refusal>) {
    remove(&mut value, &path);
    let verdict = judge(&value);
    let required = match (&verdict, path.split_last()) {
        (Err(refusal), Some((Step::Key(key), parent))) => {
            (missing_field(&refusal.0) == Some(&**key)).then_some(parent)
        }
        _ => None,
    };
    removed.push(path);
    match required {
        Some(parent) if !parent.steps().is_empty() => without(value, parent, judge, removed),
        _ => (value, verdict),
    }
}

/// Undoes the shift of list indices that earlier removals caused.
fn original(path: &Path, removed: &[Path]) -> Path {
    removed.iter().rev().fold(path.clone(), |path, gone| {
        let Some((Step::Index(index), list)) = gone.split_last() else { return path };
        let depth = list.steps().len();
        let steps = path.steps().iter().enumerate().map(|(position, step)| match step {
            Step::Index(i) if position == depth && path.starts_with(&list) && i >= index => {
                Step::Index(i + 1)
            }
            Step::Index(_) | Step::Key(_) => step.clone(),
        });
        steps.fold(Path::default(), |path, step| path.join(step))
    })
}

/// The path to the part that the refusal names, if the search ended below or above it: an unknown field, a list in place of a word,
/// the section that lacks something.
fn to_fault(path: Path, reason: &str, root: &Node<'_>) -> Path {
    let steps = path.steps();
    if reason.contains("invalid type: sequence") || reason.contains(UNTAGGED) {
        let is_list = matches!(root.find(&path), Some(Node { value: Value::Sequence(_), .. }));
        return match path.split_last() {
            Some((Step::Index(_), list)) if !is_list => list,
            _ => path,
        };
    }
    let section = || Some(reason.split_once("Missing '")?.1.split_once('.')?.0);
    let Some(name) = unknown_field(reason).map(|(field, _)| field).or_else(section) else {
        return path;
    };
    match steps.iter().rposition(|step| matches!(step, Step::Key(key) if **key == *name)) {
        Some(last) => path.up_to(last + 1),
        None if root.find(&path).is_some_and(|part| part.entry(name).is_some()) => path.key(name),
        None => path,
    }
}

fn diagnostic(document: &Document<'_>, path: &Path, refusal: &Refusal, judge: Judge) -> Diagnostic {
    let text = reason(refusal);
    let place = document.place_at(path);
    if let Some((field, expected)) = unknown_field(&text) {
        // The fault is the key, not its value.
        let span = document.key_span(path);
        let place = span.map_or(place, |span| document.place(span));
        let at = path.split_last().map(|(_, parent)| parent.to_string()).unwrap_or_default();
        let at = if at.is_empty() { String::new() } else { format!(" in {at}") };
        let diagnostic =
            Diagnostic::new(UNKNOWN_FIELD, format!("NMState has no field \"{field}\"{at}"), place);
        if at.is_empty() && POLICY.contains(&field) {
            return diagnostic.help(
                "this is a NetworkPolicy, which a node resolves: a MachineConfig or the hosts directory carries it as it is; \
                 profiles need the names of the interfaces",
            );
        }
        let near = || field_of_interface(&document.root, path, judge);
        if let Some(near) = nearest(field, &expected).or_else(near) {
            return diagnostic.help(format!("did you mean \"{near}\"?"));
        }
        if let Some(diagnostic) = without_type(document, path, field) {
            return diagnostic;
        }
        #[cfg(feature = "hints")]
        if let Some(remedy) = misplaced::remedy(&document.root, path, judge) {
            return diagnostic.help(remedy);
        }
        return diagnostic;
    }
    if let Some((word, expected)) = unknown_variant(&text) {
        let message = format!("{path} cannot be \"{}\"", path.shown(word));
        let help = match nearest(word, &expected) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("it is one of {}", expected.join(", ")),
        };
        return Diagnostic::new(INVALID_VALUE, message, place).help(help);
    }
    if let Some(word) = document.root.find(path).and_then(Node::text)
        && text.contains(BOOLEAN)
    {
        let message = format!("{path} cannot be \"{}\"", path.shown(word));
        let help = match nearest(word, &["true", "false"]) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => "it is true or false".to_owned(),
        };
        return Diagnostic::new(INVALID_VALUE, message, place).help(help);
    }
    if let Some(diagnostic) = misspelt(document, path, &text).or_else(|| mask(document, path)) {
        return diagnostic;
    }
    let is_scalar = document.root.find(path).is_some_and(|node| node.text().is_some());
    let rule = match () {
        () if is_missing_field(&text) => MISSING_FIELD,
        () if is_scalar || text.contains("invalid type") || text.contains(UNTAGGED) => {
            INVALID_VALUE
        }
        () => REFUSED,
    };
    let at = path.to_string();
    let text = match path.is_secret() {
        true => words::without_values(&words::plain(&text)),
        false => words::plain(&text),
    };
    let message = match document.root.find(path).and_then(|node| node.text()) {
        Some(value) if !at.is_empty() => {
            format!("{at} cannot be \"{}\": {text}", path.shown(value))
        }
        _ if text.starts_with(&at) => text,
        _ => format!("{at}: {text}"),
    };
    let diagnostic = Diagnostic::new(rule, message, place);
    #[cfg(feature = "hints")]
    if let Some(form) = form::expected(&document.root, path, judge) {
        return diagnostic.help(form);
    }
    diagnostic
}

/// A field of an interface without a type: nmstate knows no fields of types then.
fn without_type(document: &Document<'_>, path: &Path, field: &str) -> Option<Diagnostic> {
    let (_, around) = path.split_last()?;
    let [Step::Key(list), Step::Index(_)] = around.steps() else { return None };
    let is_one = **list == *"interfaces" && document.root.find(&around)?.get("type").is_none();
    let place = document.place(document.key_span(&around).filter(|_| is_one)?);
    let message = format!("{around} has no type, and nmstate takes {field} of some types only");
    let kind = match field {
        "link-aggregation" => "bond",
        "bridge" => "linux-bridge or ovs-bridge",
        _ if is_type(field) => field,
        _ => "ethernet, for example",
    };
    Some(Diagnostic::new(MISSING_FIELD, message, place).help(format!("add type: {kind}")))
}

/// A netmask in place of the number of its bits.
fn mask(document: &Document<'_>, path: &Path) -> Option<Diagnostic> {
    let node = document.root.find(path)?;
    let mask: std::net::Ipv4Addr = node.text()?.parse().ok()?;
    let length = mask.to_bits().leading_ones();
    let is_mask = mask.to_bits().count_ones() == length;
    let (Step::Key(key), _) = path.split_last()? else { return None };
    if **key != *"prefix-length" || !is_mask {
        return None;
    }
    let message = format!("{path} is the number of the network's bits, not the netmask {mask}");
    let diagnostic = Diagnostic::new(INVALID_VALUE, message, document.place(node.span));
    Some(diagnostic.help(format!("write {length}")))
}

/// A missing required field whose key is misspelt.
fn misspelt(document: &Document<'_>, path: &Path, text: &str) -> Option<Diagnostic> {
    let field = missing_field(text)?;
    let entries = document.root.find(path)?.entries();
    let entry = entries.iter().find(|entry| is_alike(&entry.key, field))?;
    let message = format!("{path}: {text}");
    let diagnostic = Diagnostic::new(MISSING_FIELD, message, document.place(entry.key_span));
    Some(diagnostic.help(format!("did you mean \"{field}\"?")))
}

/// The word and the expected ones, from serde's "unknown variant", without the numbers that the kernel has for them.
fn unknown_variant(text: &str) -> Option<(&str, Vec<&str>)> {
    let rest = text.split_once("unknown variant `")?.1;
    let (word, rest) = rest.split_once('`')?;
    let expected = rest.split('`').skip(1).step_by(2);
    Some((word, expected.filter(|word| word.parse::<u32>().is_err()).collect()))
}

//! No silent loss: another value in any field changes the output, or a diagnostic reports that it has no effect.

use std::collections::BTreeMap;

use self::Fault::{NoOtherValue, Silent};
use nmgen::diagnostic::Diagnostic;
use serde_yaml::Value;
use tests::documents::{self, Document};
use tests::mutation::Seen;
use tests::yaml::{self, Step};

/// Fields that may lack both an effect and a diagnostic, by document (`*`: any) and shape of the path.
const MAY_STAY: &[(&str, &str, Fault, &str)] = &[
    ("static-dual-stack.yml", "description", Silent, "a comment on the document asks for nothing"),
    (
        "ovs-bond.yml",
        "interfaces[].ipv4.enabled",
        Silent,
        "IPv4 without an address is none, on a node too",
    ),
    ("*", "interfaces[].type", Silent, "veth and ethernet are one type with two names"),
    ("*", "interfaces[].type", NoOtherValue, "the other sections and fields go with the type"),
    ("br-ex-dhcp.yml", "interfaces[].ipv4.enabled", NoOtherValue, "br-ex needs DHCP for its ports"),
    ("br-ex-dhcp.yml", "interfaces[].ipv6.enabled", NoOtherValue, "see the one above"),
    (
        "loopback.yml",
        "interfaces[].ipv4.enabled",
        NoOtherValue,
        "nmstate has no loopback without IP",
    ),
    ("*", "interfaces[].ipv6.autoconf", NoOtherValue, "nmstate has autoconf with DHCP only"),
    ("*", "interfaces[].bridge.port[].vlan.mode", NoOtherValue, "goes with tag and trunk-tags"),
    ("*", "interfaces[].bridge.port[].vlan.enable-native", NoOtherValue, "goes with mode and tag"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// Another value gives the same output, and no diagnostic is at the field.
    Silent,
    /// nmstate refuses every other value that was tried.
    NoOtherValue,
}

#[tests::case]
fn no_field_is_lost_in_silence() {
    let documents = documents::all();
    let seen = Seen::gather(&documents);
    let mut faults: BTreeMap<(String, String), Fault> = BTreeMap::new();
    for document in &documents {
        ablate(document, &seen, &mut faults);
    }
    let is_listed = |document: &str, shape: &str, fault: &Fault| {
        MAY_STAY
            .iter()
            .any(|(d, s, f, _)| (*d == "*" || *d == document) && *s == shape && f == fault)
    };
    let unlisted: Vec<String> = faults
        .iter()
        .filter(|((document, shape), fault)| !is_listed(document, shape, fault))
        .map(|((document, shape), fault)| format!("{document}: {shape}: {fault:?}"))
        .collect();
    assert!(unlisted.is_empty(), "{} faults:\n{}", unlisted.len(), unlisted.join("\n"));
    let needed = |document: &str, shape: &str, fault: Fault| {
        faults
            .iter()
            .any(|((d, s), f)| (document == "*" || document == d) && shape == s && fault == *f)
    };
    let stale: Vec<_> = MAY_STAY.iter().filter(|(d, s, f, _)| !needed(d, s, *f)).collect();
    assert!(stale.is_empty(), "listed, and not needed: {stale:?}");
}

fn ablate(document: &Document, seen: &Seen, faults: &mut BTreeMap<(String, String), Fault>) {
    let original: Value = serde_yaml::from_str(&document.text).unwrap();
    // Written by serde_yaml like the changed ones, one scalar a line.
    let text = serde_yaml::to_string(&original).unwrap();
    let diagnostics = documents::convert(&document.name, &text).diagnostics;
    let judgement = judged(&original);
    for (path, value) in yaml::leaves(&original) {
        if is_told(&original, &path, &diagnostics) || is_left_alone(&original, &path) {
            continue;
        }
        let others = seen.others(&original, &path, &value);
        let fault = match try_others(&original, judgement.as_ref(), &path, &value, &others) {
            Tried::Differs => continue,
            Tried::Same => Fault::Silent,
            // If other fields forbid every other value, try a smaller document.
            Tried::Refused => {
                let differs = |less: Value| {
                    let judgement = judged(&less);
                    let tried = try_others(&less, judgement.as_ref(), &path, &value, &others);
                    tried == Tried::Differs
                };
                if smaller(&original, &path).into_iter().any(differs) {
                    continue;
                }
                Fault::NoOtherValue
            }
        };
        faults.insert((document.name.clone(), yaml::shape(&path)), fault);
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Tried {
    /// Another value gives another output.
    Differs,
    /// Another value gives the same output.
    Same,
    /// nmstate refuses all of them.
    Refused,
}

/// nmstate's reading and nmgen's output.
type Judgement = (Value, Vec<(String, String)>);

/// Tries other values in a document, whose own judgement the caller has.
fn try_others(
    document: &Value,
    judgement: Option<&Judgement>,
    path: &[Step],
    value: &Value,
    others: &[Value],
) -> Tried {
    let Some((state, output)) = judgement else { return Tried::Refused };
    let mut tried = Tried::Refused;
    for other in others {
        let one = yaml::replaced(document, path, other.clone());
        let everywhere = yaml::renamed(document, value, other);
        for changed in [one, everywhere] {
            match judged(&changed) {
                Some((other_state, other_output)) if other_state != *state => {
                    if other_output != *output {
                        return Tried::Differs;
                    }
                    tried = Tried::Same;
                }
                _ => {}
            }
        }
    }
    tried
}

/// Reduced documents, without the usual causes of a refusal: the sections beside the interfaces, and each of the field's
/// neighbours, or all of them.
fn smaller(document: &Value, path: &[Step]) -> Vec<Value> {
    let mut found = Vec::new();
    let only_section: Vec<Step> = path.iter().take(1).cloned().collect();
    let interfaces = [Step::Key("interfaces".to_owned())];
    let mut less = document.clone();
    less.as_mapping_mut().unwrap().retain(|key, _| {
        [&only_section[..], &interfaces]
            .iter()
            .any(|kept| matches!(kept.first(), Some(Step::Key(name)) if key.as_str() == Some(name)))
    });
    for depth in (1..path.len()).rev() {
        let Some(Value::Mapping(neighbours)) = yaml::find(document, &path[..depth]) else {
            continue;
        };
        for key in neighbours.keys().filter_map(Value::as_str) {
            if matches!(&path[depth], Step::Key(own) if own == key) {
                continue;
            }
            let mut without = less.clone();
            if let Some(Value::Mapping(mapping)) = yaml::find_mut(&mut without, &path[..depth]) {
                mapping.shift_remove(key);
            }
            found.push(without);
        }
    }
    let parent = path.iter().rposition(|step| matches!(step, Step::Key(_))).unwrap_or_default();
    let mut alone = less.clone();
    if let Some(Value::Mapping(mapping)) = yaml::find_mut(&mut alone, &path[..parent]) {
        mapping
            .retain(|key, _| matches!(&path[parent], Step::Key(own) if key.as_str() == Some(own)));
    }
    found.extend([less, alone]);
    found
}

/// Returns `None` if nmstate does not convert the document.
fn judged(document: &Value) -> Option<Judgement> {
    let state: nmstate::NetworkState = serde_yaml::from_value(document.clone()).ok()?;
    state.gen_conf().ok()?;
    let text = serde_yaml::to_string(document).unwrap();
    // As YAML, since nmstate's comparison ignores the metric of a route.
    let state = serde_yaml::to_value(&state).unwrap();
    Some((state, output(&documents::convert("changed.yml", &text))))
}

/// True below `state: ignore`.
fn is_left_alone(document: &Value, path: &[Step]) -> bool {
    (1..path.len()).any(|length| {
        let state = yaml::find(document, &path[..length]).and_then(|value| value.get("state"));
        state.and_then(Value::as_str) == Some("ignore")
    })
}

fn output(outcome: &nmgen::Outcome) -> Vec<(String, String)> {
    documents::files(outcome).into_iter().map(|(file, text)| (file.path(), text)).collect()
}

/// True when a diagnostic is at the field, at an enclosing section, or at the `state` of the enclosing object.
fn is_told(document: &Value, path: &[Step], diagnostics: &[Diagnostic]) -> bool {
    let lines: Vec<u32> = diagnostics
        .iter()
        .filter_map(|found| found.place.position.as_ref().map(|position| position.start.line))
        .collect();
    if lines.is_empty() {
        return false;
    }
    (1..=path.len()).any(|length| {
        let part = &path[..length];
        let at = |path: &[Step]| lines.contains(&line(document, path));
        if matches!(part.last(), Some(Step::Key(_))) || length == path.len() {
            return at(part);
        }
        let state = [part, &[Step::Key("state".to_owned())]].concat();
        yaml::find(document, &state).is_some() && at(&state)
    })
}

/// The line of this key or list item in serde_yaml's output.
fn line(document: &Value, path: &[Step]) -> u32 {
    const MARK: &str = "here-it-stands";
    let mut marked = yaml::replaced(document, path, MARK.into());
    if path.is_empty() {
        marked = MARK.into();
    }
    let text = serde_yaml::to_string(&marked).unwrap();
    let before = text.split(MARK).next().unwrap_or_default();
    before.matches('\n').count() as u32 + 1
}

//! A NetworkPolicy, whose captures have values on a node only: what does not depend on them is judged, as far as it can be.

use std::collections::HashMap;

use nmgen_document::diagnostic::{Diagnostics, rules};
use nmgen_document::spelling::is_alike;
use nmgen_document::{Document, Node, Value};

use super::purpose::Purpose;
use super::schema::{EMPTY_DOCUMENT, INVALID_VALUE, UNKNOWN_FIELD};
use crate::interface::DESIRED;

rules! {
    error CAPTURE_UNKNOWN = "capture-unknown";
}

const CAPTURE: &str = "capture";
/// The state that captures are resolved by, in place of the node's.
const CURRENT: &str = "current";
/// Bytes of a name of a link (`IFNAMSIZ`).
const MAX_NAME: usize = 15;

pub(super) fn check(document: &Document<'_>, cards: &[&str], diagnostics: &mut Diagnostics) {
    let captures = document.root.get(CAPTURE);
    for entry in document.root.entries() {
        let key = &*entry.key;
        if ![CAPTURE, CURRENT].contains(&key) && !DESIRED.contains(&key) {
            let message = format!("a NetworkPolicy has no field \"{}\"", key.escape_debug());
            let help = "move it below desiredState";
            diagnostics.add(UNKNOWN_FIELD, document.place(entry.key_span), message, help);
        }
    }
    let entries = captures.map(Node::entries).unwrap_or_default();
    let known: Vec<&str> = entries.iter().map(|entry| &*entry.key).collect();
    for entry in entries {
        let Some(text) = entry.node.text() else {
            let message = format!("the capture {} is no text", entry.key.escape_debug());
            let help =
                "write an expression, such as interfaces.mac-address == \"52:54:00:12:34:56\"";
            diagnostics.add(INVALID_VALUE, document.place(entry.key_span), message, help);
            continue;
        };
        for name in mentioned(text) {
            unknown(document, &entry.node, name, &known, diagnostics);
        }
    }
    let Some(desired) = DESIRED.into_iter().find_map(|key| document.root.get(key)) else { return };
    references(desired, &mut |node, reference| {
        let name = reference.split('.').next().unwrap_or_default();
        unknown(document, node, name, &known, diagnostics);
    });
    let mut names = HashMap::new();
    let Some(judged) = judged(desired, &mut names, Owner::State) else { return };
    let mut found = Diagnostics::default();
    super::document(&document.part(judged), cards, Purpose::Apply, &mut found);
    super::of_part(&mut found);
    // All that it asks for may come from captures.
    let is_filled = !desired.entries().is_empty();
    found.retain(|diagnostic| !is_filled || diagnostic.rule != EMPTY_DOCUMENT);
    diagnostics.extend(found);
}

/// Tells of a capture that the policy does not have.
fn unknown(
    document: &Document<'_>,
    node: &Node<'_>,
    name: &str,
    known: &[&str],
    diagnostics: &mut Diagnostics,
) {
    if known.contains(&name) {
        return;
    }
    let message = format!("this policy has no capture \"{}\"", name.escape_debug());
    let help = match known.iter().find(|known| is_alike(name, known)) {
        Some(meant) => format!("did you mean \"{meant}\"?"),
        None => "a capture is a key below \"capture\"".to_owned(),
    };
    diagnostics.add(CAPTURE_UNKNOWN, document.place(node.span), message, help);
}

/// The captures that the expression of another one begins with.
fn mentioned(expression: &str) -> impl Iterator<Item = &str> {
    let words = expression.split(|c: char| c.is_whitespace() || "|=+!\"'".contains(c));
    words.filter_map(|word| word.strip_prefix("capture.")?.split('.').next())
}

/// `iface0.interfaces.0.name` of `{{ capture.iface0.interfaces.0.name }}`.
pub fn reference(text: &str) -> Option<&str> {
    let [before, reference, after] = around(text.trim())?;
    (before.is_empty() && after.is_empty()).then_some(reference)
}

/// Returns the parts of a text around a reference to a capture, and the reference: `{{ capture.nic.interfaces.0.name }}.5`.
fn around(text: &str) -> Option<[&str; 3]> {
    let (before, rest) = text.split_once("{{")?;
    let (inner, after) = rest.split_once("}}")?;
    Some([before, inner.trim().strip_prefix("capture.")?, after])
}

/// Calls `each` for every value that refers to a capture.
fn references<'n, 't>(node: &'n Node<'t>, each: &mut impl FnMut(&'n Node<'t>, &'n str)) {
    match &node.value {
        Value::Scalar { text, .. } => {
            if let Some(reference) = reference(text) {
                each(node, reference);
            }
        }
        Value::Sequence(items) => items.iter().for_each(|item| references(item, each)),
        Value::Mapping(entries) => {
            entries.iter().for_each(|entry| references(&entry.node, each));
        }
    }
}

/// What a value belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    State,
    /// An item of `interfaces`.
    Interface,
    Other,
}

/// A copy in which a captured name of an interface is some name, and without the parts that other captures fill.
fn judged<'t>(
    node: &Node<'t>,
    names: &mut HashMap<String, String>,
    owner: Owner,
) -> Option<Node<'t>> {
    let value = match &node.value {
        Value::Scalar { text, .. } => {
            let Some([before, reference, after]) = around(text.trim()) else {
                return Some(node.clone());
            };
            let name = stand_in(reference.strip_suffix(".name")?, names);
            // Only a node knows how long the captured name is.
            let room = MAX_NAME.saturating_sub(before.len() + after.len());
            let name = name.get(..room).unwrap_or(&name);
            Value::Scalar { text: format!("{before}{name}{after}").into(), plain: false }
        }
        Value::Sequence(items) => {
            let owner = match owner {
                Owner::Interface => Owner::Interface,
                Owner::State | Owner::Other => Owner::Other,
            };
            Value::Sequence(items.iter().filter_map(|item| judged(item, names, owner)).collect())
        }
        Value::Mapping(entries) => {
            let mut kept = Vec::with_capacity(entries.len());
            for entry in entries {
                let is_list = owner == Owner::State && entry.key == "interfaces";
                let below = if is_list { Owner::Interface } else { Owner::Other };
                match judged(&entry.node, names, below) {
                    Some(node) => kept.push(entry.with(node)),
                    // An interface without its name or type is none.
                    None if owner == Owner::Other || matches!(&*entry.key, "name" | "type") => {
                        return None;
                    }
                    None => {}
                }
            }
            Value::Mapping(kept)
        }
    };
    Some(Node { span: node.span, value })
}

/// A name for a captured interface, the same one at each place: that of the capture, if a link can have it.
fn stand_in(captured: &str, names: &mut HashMap<String, String>) -> String {
    let number = names.len();
    let name = || {
        let (capture, rest) = captured.split_once('.').unwrap_or((captured, ""));
        let index = rest.rsplit('.').next().filter(|index| *index != "0").unwrap_or_default();
        let name = format!("{capture}{index}");
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        match name.len() <= MAX_NAME && name.chars().all(is_plain) {
            true => name,
            false => format!("capture{number}"),
        }
    };
    names.entry(captured.to_owned()).or_insert_with(name).clone()
}

#[cfg(test)]
mod tests {
    use nmgen_document::diagnostic::Diagnostics;
    use nmgen_document::text::Source;

    use crate::check::{Purpose, document};

    /// The rules and lines of what is told of a policy.
    fn told(text: &str) -> Vec<(&'static str, u32)> {
        let source = Source { name: "a.yml".into(), text: text.into() };
        let policy = nmgen_document::parse(&source).unwrap_or_else(|it| unreachable!("{it:?}"));
        let mut found = Diagnostics::default();
        assert_eq!(document(&policy, &[], Purpose::Apply, &mut found), None);
        let line = |place: &nmgen_document::diagnostic::Place| {
            place.position.as_ref().map_or(0, |excerpt| excerpt.start.line)
        };
        found.iter().map(|found| (found.rule.name, line(&found.place))).collect()
    }

    const CAPTURE: &str = "capture:\n  primary-nic: interfaces.description == \"primary\"\n";

    #[test]
    fn a_policy_is_judged_as_far_as_its_captures_leave_it() {
        let nic = "'{{ capture.primary-nic.interfaces.0.name }}'";
        for (desired, expected) in [
            (format!("  interfaces:\n  - {{name: {nic}, type: ethernet}}\n"), vec![]),
            (
                format!(
                    "  interfaces:\n  - {{name: {nic}, type: ethernet}}\n\
                     \x20 - {{name: br1, type: linux-bridge, bridge: {{port: [{{name: {nic}}}]}}}}\n"
                ),
                vec![],
            ),
            (
                format!(
                    "  interfaces:\n  - name: v\n    type: vlan\n    vlan: {{id: 5000, base-iface: {nic}}}\n"
                ),
                vec![("vlan-id-range", 7)],
            ),
            ("  routes:\n    config: '{{ capture.primary-nic.routes.running }}'\n".to_owned(), vec![]),
            (
                "  interfaces:\n  - name: e0\n    type: ethernet\n    ipv4: '{{ capture.primary-nic.interfaces.0.ipv4 }}'\n"
                    .to_owned(),
                vec![],
            ),
            (
                "  interfaces:\n  - {name: '{{ capture.primary-nci.interfaces.0.name }}', type: ethernet}\n"
                    .to_owned(),
                vec![("capture-unknown", 5)],
            ),
            (
                format!(
                    "  interfaces:\n  - {{name: '{{{{ capture.primary-nic.interfaces.0.name }}}}.5', type: vlan, \
                     vlan: {{id: 5, base-iface: {nic}}}}}\n"
                ),
                vec![],
            ),
            ("  interfaces:\n  - {name: e0, type: ethernet, mut: 9000}\n".to_owned(), vec![("unknown-field", 5)]),
            // Undeclared ports may be on the node.
            (
                "  interfaces:\n  - {name: br1, type: linux-bridge, bridge: {port: [{name: e9}]}}\n"
                    .to_owned(),
                vec![],
            ),
        ] {
            assert_eq!(told(&format!("{CAPTURE}desiredState:\n{desired}")), expected, "{desired}");
        }
        assert_eq!(told("desiredState: {}\nroutes: {}\n")[0], ("unknown-field", 2));
        assert_eq!(told("capture:\n  a: [b]\ndesiredState: {}\n")[0], ("invalid-value", 2));
        let piped = "capture:\n  a: interfaces.name == \"e0\"\n  b: capture.c | interfaces.name := \"e1\"\n";
        assert_eq!(told(&format!("{piped}desiredState: {{}}\n"))[0], ("capture-unknown", 3));
    }
}

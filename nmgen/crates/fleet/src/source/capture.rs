//! nmpolicy's captures: `{{ capture.iface0.interfaces.0.name }}` stands for a value found on the
//! node.
//!
//! assisted-service writes one for each NIC with a known MAC address, which can be resolved here
//! (`pkg/staticnetworkconfig/generator.go`); others need the node.

use nmgen_core::check::reference;
use nmgen_core::source::Nic;
use nmgen_document::diagnostic::{Diagnostic, Diagnostics, rules};
use nmgen_document::mac::Mac;
use nmgen_document::text::place::Place;
use nmgen_document::{Document, Entry, Node, Value};

rules! {
    error CAPTURE = "capture";
    error CAPTURE_EQUAL_SIGN = "capture-equal-sign";
    error CAPTURE_MAC_ADDRESS = "capture-mac-address";
    warning CAPTURE_ALTERNATIVE_NAME = "capture-alternative-name";
}

/// The name of the link with the node's address (openshift/enhancements, "NMState Opt-In for br-ex").
const PRIMARY: &str = "primary";
/// How a capture asks for an alternative name.
const ALTERNATIVE: &str = "interfaces.alt-names.name";

/// How a capture asks for a MAC address.
const MAC_ADDRESS: &str = "interfaces.mac-address";

/// Returns what captures ask for that a node may not have: a MAC address in small letters, and an alternative name, which a link
/// has only once somebody gave it.
///
/// nmstate shows MAC addresses in capital letters, and compares letter by letter (its `policy/json.rs`), as nmpolicy does
/// (`resolver/filter.go`).
pub(crate) fn findings(captures: &Node<'_>, place: impl Fn(&Node<'_>) -> Place) -> Diagnostics {
    let mut found = Diagnostics::default();
    for entry in captures.entries() {
        let Some(text) = entry.node.text() else { continue };
        if let Some(name) = compared_with(text, ALTERNATIVE) {
            found.push(alternative_name(name, place(&entry.node)));
        }
        if has_one_equal_sign(text) {
            let message = "a single '=' neither compares nor sets";
            let help = "write \"==\" to compare, \":=\" to set";
            let place = place(&entry.node);
            found.add(CAPTURE_EQUAL_SIGN, place, message, help);
        }
        let mac = compared_with(text, MAC_ADDRESS).unwrap_or_default();
        if mac.contains(|c: char| c.is_ascii_lowercase()) {
            let message = format!(
                "no link has the MAC address \"{}\": a capture compares letter by letter",
                mac.escape_debug()
            );
            let help = format!(
                "write \"{}\": nmstate shows capital letters",
                mac.to_ascii_uppercase().escape_debug()
            );
            found.add(CAPTURE_MAC_ADDRESS, place(&entry.node), message, help);
        }
    }
    found
}

/// Returns the value that an expression compares a property with, as in `interfaces.name == "eno1"`.
fn compared_with<'t>(expression: &'t str, property: &str) -> Option<&'t str> {
    let (_, rest) = expression.split_once(property)?;
    let value = rest.trim_start().strip_prefix("==")?.trim_start();
    value.trim_start_matches(['"', '\'']).split(['"', '\'', '|', ' ']).next()
}

/// Returns whether an expression has a '=' alone outside of quotes, which nmstate refuses (its `policy/token.rs`).
fn has_one_equal_sign(expression: &str) -> bool {
    let outside = expression.split(['"', '\'']).step_by(2);
    let rest = outside.map(|part| part.replace("==", "").replace(":=", "").replace("!=", ""));
    rest.into_iter().any(|part| part.contains('='))
}

fn alternative_name(name: &str, place: Place) -> Diagnostic {
    let help = match name {
        PRIMARY => {
            "nodeip-configuration.service gives it once the node has an address: dayone has that unit run first, and waits"
        }
        _ => {
            "a .link file of udev's or an earlier document gives it: dayone waits for it, and then refuses the document"
        }
    };
    let message = format!(
        "a link has the alternative name \"{}\" only after somebody gave it",
        name.escape_debug()
    );
    Diagnostic::new(CAPTURE_ALTERNATIVE_NAME, message, place).help(help)
}

/// The NetworkPolicy with these captures and this desired state.
pub(super) fn policy(
    desired: &Document<'static>,
    captures: Option<Node<'static>>,
) -> Document<'static> {
    let span = desired.root.span;
    let entry = |key: &'static str, node: Node<'static>| Entry {
        key: key.into(),
        key_span: node.span,
        node,
    };
    let captures = captures.map(|node| entry("capture", node));
    let entries = captures.into_iter().chain([entry("desiredState", desired.root.clone())]);
    desired.part(Node { span, value: Value::Mapping(entries.collect()) })
}

/// The document with each reference to a capture replaced by the NIC's name.
///
/// # Errors
/// Each reference that no NIC resolves.
pub(super) fn resolve(
    document: Document<'static>,
    captures: Option<&Node<'_>>,
    nics: &[Nic],
) -> Result<Document<'static>, Diagnostics> {
    let mut root = document.root.clone();
    let mut faults = Diagnostics::default();
    let mut is_changed = false;
    walk(&mut root, &mut |node, text| match name(text, captures, nics) {
        Some(name) => {
            is_changed = true;
            node.value = Value::Scalar { text: name.to_owned().into(), plain: false };
        }
        None => faults.add(
            CAPTURE,
            document.place(node.span),
            "a capture has a value on a node only",
            "write the interface's name",
        ),
    });
    match (faults.is_empty(), is_changed) {
        (false, _) => Err(faults),
        (true, true) => Ok(document.part(root)),
        (true, false) => Ok(document),
    }
}

/// Calls `each` for every scalar that refers to a capture.
fn walk(node: &mut Node<'static>, each: &mut impl FnMut(&mut Node<'static>, &str)) {
    match &mut node.value {
        Value::Scalar { text, .. } => {
            if reference(text).is_some() {
                let text = text.clone();
                each(node, &text);
            }
        }
        Value::Sequence(items) => items.iter_mut().for_each(|item| walk(item, each)),
        Value::Mapping(entries) => {
            entries.iter_mut().for_each(|entry| walk(&mut entry.node, each));
        }
    }
}

/// The name of the NIC that a capture selects by its MAC address.
fn name<'n>(text: &str, captures: Option<&Node<'_>>, nics: &'n [Nic]) -> Option<&'n str> {
    let capture = reference(text)?.strip_suffix(".interfaces.0.name")?;
    let wanted = Mac::parse(compared_with(captures?.text_at(capture)?, MAC_ADDRESS)?)?;
    let nic = nics.iter().find(|nic| nic.mac_address == wanted)?;
    nic.name.as_deref()
}

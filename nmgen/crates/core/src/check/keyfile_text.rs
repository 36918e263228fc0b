//! Text that changes its meaning in a keyfile. nmstate's offline conversion escapes nothing, so such
//! text is refused. On a node values go over D-Bus unchanged.

use crate::interface;
use nmgen_document::diagnostic::rules;
use nmgen_document::{Node, Path, Step, Value};

use super::name::name_problem;
use super::subject::{Report, Subject};

rules! {
    error CONTROL_CHARACTER = "control-character";
    warning FINAL_LINE_BREAK = "final-line-break";
    error FREE_FORM_KEY = "free-form-key";
    error LIST_SEPARATOR = "list-separator";
    error RULE_INTERFACE = "route-rule-interface";
}

/// The parts of a document that are written into profiles.
const ROOTS: &[&str] = &["interfaces", "routes", "route-rules", "dns-resolver"];

pub(super) fn check(subject: &Subject<'_>, report: &mut Report<'_>) {
    rule_interfaces(subject, report);
    if !subject.is_offline() {
        return;
    }
    let interfaces = interface::all(subject.root);
    for root in ROOTS {
        if let Some(node) = subject.root.get(root) {
            Walk { interfaces, way: vec![At::Key(root)], report }.node(node);
        }
    }
    for interface in &subject.interfaces {
        for map in ["external_ids", "other_config"] {
            let keys = interface.node.at(&["ovs-db", map]).map(Node::entries).unwrap_or_default();
            for key in keys.iter().map(|entry| entry.key.as_ref()).filter(|key| !is_safe_key(key)) {
                let at = interface.path_to(&["ovs-db", map, key]);
                let help =
                    "use ASCII letters, digits and punctuation other than '=', '[', ']' and '\\'";
                let message = format!("\"{}\" cannot be a key in a keyfile", key.escape_debug());
                report.add_at_key(FREE_FORM_KEY, &at, message, help);
            }
        }
        let methods = &["802.1x", "eap-methods"];
        separators(interface.node.at(methods), || interface.path_to(methods), report);
    }
    for list in ["server", "search", "options"] {
        let path = || Path::default().key("dns-resolver").key("config").key(list);
        separators(subject.root.at(&["dns-resolver", "config", list]), path, report);
    }
}

/// Mirrors GLib's `g_key_file_is_key_name`, without the characters of NetworkManager's own encoding
/// of keys.
fn is_safe_key(key: &str) -> bool {
    !key.is_empty()
        && key.trim() == key
        && key.chars().all(|c| matches!(c, ' '..='~') && !matches!(c, '=' | '[' | ']' | '\\'))
}

fn separators(list: Option<&Node<'_>>, path: impl Fn() -> Path, report: &mut Report<'_>) {
    let items = list.map(Node::items).unwrap_or_default();
    for (index, text) in items.iter().enumerate().filter_map(|(i, node)| Some((i, node.text()?))) {
        if text.contains(';') {
            let message =
                format!("\"{}\" has a ';', which would make it several items", text.escape_debug());
            let help = "write one item for each";
            report.add(LIST_SEPARATOR, &path().index(index), message, help);
        }
    }
}

/// In NetworkManager's routing-rule, `iif NAME` is one word among others.
fn rule_interfaces(subject: &Subject<'_>, report: &mut Report<'_>) {
    let rules = subject.root.items_at(&["route-rules", "config"]);
    for (index, rule) in rules.iter().enumerate() {
        let Some(name) = rule.text_at("iif") else { continue };
        let Some(problem) = name_problem(name) else { continue };
        let message = format!("\"{}\" cannot name an interface: {problem}", name.escape_debug());
        let help = "iif is the name of one interface";
        let at = Path::default().key("route-rules").key("config").index(index).key("iif");
        report.add(RULE_INTERFACE, &at, message, help);
    }
}

enum At<'n> {
    Key(&'n str),
    Index(usize),
}

struct Walk<'n, 'r, 'd> {
    interfaces: &'n [Node<'n>],
    /// Steps from the root; a path is made of them only for a finding.
    way: Vec<At<'n>>,
    report: &'r mut Report<'d>,
}

impl<'n> Walk<'n, '_, '_> {
    fn node(&mut self, node: &'n Node<'_>) {
        match &node.value {
            Value::Scalar { text, .. } => {
                // Most text is plain ASCII: check bytes first.
                if text.bytes().any(|byte| !(b' '..0x7f).contains(&byte)) && has_control(text) {
                    self.add(text);
                }
            }
            Value::Sequence(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.way.push(At::Index(index));
                    self.node(item);
                    self.way.pop();
                }
            }
            Value::Mapping(entries) => {
                for entry in entries {
                    self.way.push(At::Key(&entry.key));
                    if has_control(&entry.key) {
                        self.add_key(&entry.key);
                    } else if !self.is_elsewhere() {
                        self.node(&entry.node);
                    }
                    self.way.pop();
                }
            }
        }
    }

    /// True for names, which have their own rules, and scripts, which are in no profile.
    fn is_elsewhere(&self) -> bool {
        match self.way.as_slice() {
            [At::Key("interfaces"), At::Index(_), At::Key(key)] => {
                matches!(*key, "name" | "profile-name" | "dispatch")
            }
            [At::Key("route-rules"), .., At::Key("iif")] => true,
            _ => false,
        }
    }

    fn path(&self) -> Path {
        path_of(&self.way)
    }

    /// `description of eth0`, or the path outside of interfaces.
    fn name(&self) -> String {
        match self.way.as_slice() {
            [At::Key("interfaces"), At::Index(index), rest @ ..] => {
                let interface = self.interfaces.get(*index).and_then(|node| node.text_at("name"));
                let below = path_of(rest);
                interface
                    .map_or_else(|| self.path().to_string(), |name| format!("{below} of {name}"))
            }
            _ => self.path().to_string(),
        }
    }

    /// True for the text of people, for which YAML's block scalars are.
    fn is_description(&self) -> bool {
        matches!(self.way.as_slice(), [At::Key("interfaces"), At::Index(_), At::Key("description")])
    }

    fn add(&mut self, text: &str) {
        let (path, name) = (self.path(), self.name());
        // nmstate writes an empty line behind it, which ends no value.
        if self.is_description() && !has_control(text.trim_end_matches('\n')) {
            let message = format!("{name} ends in a line break, which its profile leaves out");
            let help = "write it in one line, or with \"|-\" or \">-\"";
            return self.report.add(FINAL_LINE_BREAK, &path, message, help);
        }
        let (message, help) = if text.trim_end_matches('\n').contains(['\n', '\r']) {
            (
                format!(
                    "{name} has a line break, which nmstate does not escape: another line of the keyfile would begin"
                ),
                "write it in one line",
            )
        } else if text.ends_with('\n') {
            (
                format!("{name} ends in a line break, which nmstate does not escape"),
                "write it in one line, or with \"|-\" or \">-\"",
            )
        } else {
            (
                format!("{name} has a control character: \"{}\"", path.shown(cut(text))),
                "remove it: a keyfile is lines of text",
            )
        };
        self.report.add(CONTROL_CHARACTER, &path, message, help);
    }

    fn add_key(&mut self, key: &str) {
        let message = format!("the key \"{}\" has a control character", cut(key).escape_debug());
        let help = "remove it: a keyfile is lines of text";
        self.report.add_at_key(CONTROL_CHARACTER, &self.path(), message, help);
    }
}

fn path_of(way: &[At<'_>]) -> Path {
    way.iter().fold(Path::default(), |path, at| match at {
        At::Key(key) => path.join(Step::Key((*key).into())),
        At::Index(index) => path.index(*index),
    })
}

fn has_control(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && c != '\t')
}

/// Bounds the length of a message.
fn cut(text: &str) -> &str {
    let end = text.char_indices().nth(60).map_or(text.len(), |(index, _)| index);
    &text[..end]
}

//! The differences of two documents, in their fields.

use std::fmt;

use nmgen_document::diagnostic::Style;
use nmgen_document::text::secret;
use nmgen_document::{Node, Value};

/// A field that differs. Displayed as one line: `+ `, `- ` or `~ `, the field and its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The field, as in `interfaces[eno1].mtu`.
    pub field: String,
    /// `None` if only the new side has the field.
    pub before: Option<Node<'static>>,
    /// `None` if only the old side has the field.
    pub after: Option<Node<'static>>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = &self.field;
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => {
                write!(f, "~ {field}: {} -> {}", Inline(before), Inline(after))
            }
            (Some(before), None) => write!(f, "- {field}: {}", Inline(before)),
            (None, Some(after)) => write!(f, "+ {field}: {}", Inline(after)),
            (None, None) => Ok(()),
        }
    }
}

/// A line that begins with one of a difference's signs, in that sign's colour; any other is a heading.
pub fn painted(line: &str, style: Style) -> String {
    let colour = match (style, line.trim_start().get(..2)) {
        (Style::Plain, _) => return line.to_owned(),
        (Style::Coloured, Some("+ ")) => "\x1b[32m",
        (Style::Coloured, Some("- ")) => "\x1b[31m",
        (Style::Coloured, Some("~ ")) => "\x1b[33m",
        (Style::Coloured, Some("= " | "# ")) => "\x1b[2m",
        (Style::Coloured, _) => "\x1b[1m",
    };
    format!("{colour}{line}\x1b[0m")
}

#[derive(Clone)]
struct Field {
    path: String,
    /// The last key, and whether it is one of secrets.
    key: String,
    is_key: bool,
    /// Its values, and those below, are not shown.
    is_secret: bool,
    /// The values of unknown keys in it are not shown either.
    is_section: bool,
}

impl Field {
    fn key(&self, key: &str) -> Self {
        let shown = secret::shown_key(key);
        let path = match &*self.path {
            "" => shown,
            path => format!("{path}.{shown}"),
        };
        let is_unknown = self.is_section && !secret::is_harmless(key);
        Self {
            path,
            key: key.to_owned(),
            is_key: secret::is_key(key),
            is_secret: self.is_secret || self.is_key || is_unknown,
            is_section: secret::is_section(key),
        }
    }

    fn item(&self, name: &str) -> Self {
        let path = format!("{}[{name}]", self.path);
        let is_secret = self.is_secret || self.is_key;
        Self { path, key: String::new(), is_key: false, is_secret, is_section: false }
    }

    fn differs(&self, before: Option<&Node<'_>>, after: Option<&Node<'_>>) -> Difference {
        let shown = |node: &Node<'_>| {
            let is_public = || node.text().is_some_and(|text| secret::is_public(&self.key, text));
            let is_secret = self.is_secret || self.is_key && !is_public();
            node.clone().into_owned().without_secrets(is_secret, self.is_section)
        };
        let field = self.path.clone();
        Difference { field, before: before.map(shown), after: after.map(shown) }
    }
}

/// The differences of two documents. Interfaces are matched by name and type, addresses by address, other items of lists by
/// content. Order is ignored. Secrets differ without their values.
pub fn fields(before: &Node<'_>, after: &Node<'_>) -> Vec<Difference> {
    let mut found = Vec::new();
    let root = Field {
        path: String::new(),
        key: String::new(),
        is_key: false,
        is_secret: false,
        is_section: false,
    };
    node(&root, before, after, &mut found);
    found
}

fn node(at: &Field, before: &Node<'_>, after: &Node<'_>, found: &mut Vec<Difference>) {
    if before.means_the_same(after) {
        return;
    }
    match (&before.value, &after.value) {
        (Value::Mapping(_), Value::Mapping(_)) => mapping(at, before, after, found),
        (Value::Sequence(_), Value::Sequence(_)) => sequence(at, before, after, found),
        _ => found.push(at.differs(Some(before), Some(after))),
    }
}

fn mapping(at: &Field, before: &Node<'_>, after: &Node<'_>, found: &mut Vec<Difference>) {
    for entry in before.entries() {
        let at = at.key(&entry.key);
        match after.entry(&entry.key) {
            Some(other) => node(&at, &entry.node, &other.node, found),
            None => found.push(at.differs(Some(&entry.node), None)),
        }
    }
    for entry in after.entries().iter().filter(|entry| before.entry(&entry.key).is_none()) {
        found.push(at.key(&entry.key).differs(None, Some(&entry.node)));
    }
}

fn sequence(at: &Field, before: &Node<'_>, after: &Node<'_>, found: &mut Vec<Difference>) {
    let mut left: Vec<&Node<'_>> = after.items().iter().collect();
    for item in before.items() {
        let same = match identity(item) {
            Some(identity) => left.iter().position(|other| self::identity(other) == Some(identity)),
            None => left.iter().position(|other| item.means_the_same(other)),
        };
        match same {
            Some(index) => {
                let name = identity(item).map_or(String::new(), |(name, _)| name.to_owned());
                node(&at.item(&name), item, left.remove(index), found);
            }
            None => found.push(at.differs(Some(item), None)),
        }
    }
    found.extend(left.into_iter().map(|item| at.differs(None, Some(item))));
}

/// The key that identifies an item of a list: an interface's name and type, a port's name, an
/// address.
fn identity<'n>(item: &'n Node<'_>) -> Option<(&'n str, Option<&'n str>)> {
    let name = item.text_at("name").or_else(|| item.text_at("ip"))?;
    Some((name, item.text_at("type")))
}

/// A value on one line.
pub struct Inline<'n, 't>(pub &'n Node<'t>);

impl fmt::Display for Inline<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.value {
            Value::Scalar { text, .. } => write!(f, "{}", text.escape_debug()),
            Value::Sequence(items) => {
                f.write_str("[")?;
                for (position, item) in items.iter().enumerate() {
                    f.write_str(if position > 0 { ", " } else { "" })?;
                    write!(f, "{}", Self(item))?;
                }
                f.write_str("]")
            }
            Value::Mapping(entries) => {
                f.write_str("{")?;
                for (position, entry) in entries.iter().enumerate() {
                    let comma = if position > 0 { ", " } else { "" };
                    write!(f, "{comma}{}: {}", entry.key.escape_debug(), Self(&entry.node))?;
                }
                f.write_str("}")
            }
        }
    }
}
